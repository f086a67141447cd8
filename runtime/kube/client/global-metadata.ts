/** What `--global-labels` and `--global-annotations` ask for on everything that the controllers create. */
export interface GlobalMetadata {
  labels: Readonly<Record<string, string>>;
  annotations: Readonly<Record<string, string>>;
}

interface Named {
  kind: string;
  apiVersion: string;
  metadata: {
    name?: string;
    namespace?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
}

/**
 * An object with the global labels and annotations; its own win. `${namespace}`, `${name}`, `${kind}` and `${group}` in values stand for
 * those of the object (control plane reference 6).
 */
export function withGlobalMetadata<T extends Named>(object: T, global: GlobalMetadata): T {
  const slash = object.apiVersion.indexOf("/");
  const places: Readonly<Record<string, string>> = {
    namespace: object.metadata.namespace ?? "",
    name: object.metadata.name ?? "",
    kind: object.kind,
    group: slash < 0 ? "" : object.apiVersion.slice(0, slash),
  };
  const filled = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(values).map(([key, value]) => [
        key,
        value.replace(/\$\{(namespace|name|kind|group)\}/g, (_, place: string) => places[place] ?? ""),
      ]),
    );
  const labels = { ...filled(global.labels), ...object.metadata.labels };
  const annotations = { ...filled(global.annotations), ...object.metadata.annotations };
  return {
    ...object,
    metadata: {
      ...object.metadata,
      ...(Object.keys(labels).length > 0 && { labels }),
      ...(Object.keys(annotations).length > 0 && { annotations }),
    },
  };
}
