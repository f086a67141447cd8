export function configMap(
  namespace: string,
  name: string,
  data: Record<string, string>,
  labels?: Record<string, string>,
) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace, labels }, data } as const;
}
