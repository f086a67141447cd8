import * as k8s from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";
import * as liqo from "pulumi-liqo";

/** Prints who it is and what it was given, every few seconds. */
const script = `while true; do
  echo "$GREETING from pod $POD_NAME, with a secret of $(wc -c < /etc/shop/password) characters"
  sleep 5
done`;

/** The application: three pods that only run at a provider, a ConfigMap in their environment, and a Secret in a file. */
export function shop(
  consumer: liqo.ClusterArgs & { provider: k8s.Provider },
  peering: liqo.Peering,
  image: string,
): { namespace: pulumi.Output<string>; remoteNamespace: pulumi.Output<string> } {
  const atRome = { provider: consumer.provider };
  const namespace = new k8s.core.v1.Namespace("shop", { metadata: { name: "shop" } }, atRome);
  const offloading = new liqo.NamespaceOffloading(
    "shop",
    { cluster: consumer, namespace: namespace.metadata.name, podOffloadingStrategy: "Remote" },
    { dependsOn: peering },
  );

  const metadata = { namespace: offloading.namespace };
  const settings = new k8s.core.v1.ConfigMap(
    "settings",
    { metadata: { ...metadata, name: "settings" }, data: { greeting: "Saluti" } },
    atRome,
  );
  const credentials = new k8s.core.v1.Secret(
    "credentials",
    { metadata: { ...metadata, name: "credentials" }, stringData: { password: "not-for-the-log" } },
    atRome,
  );
  const labels = { app: "shop" };
  new k8s.apps.v1.Deployment(
    "shop",
    {
      metadata: { ...metadata, name: "shop" },
      spec: {
        replicas: 3,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            terminationGracePeriodSeconds: 1,
            containers: [
              {
                name: "shop",
                image,
                command: ["sh", "-c", script],
                env: [
                  { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
                  {
                    name: "GREETING",
                    valueFrom: { configMapKeyRef: { name: settings.metadata.name, key: "greeting" } },
                  },
                ],
                volumeMounts: [{ name: "credentials", mountPath: "/etc/shop", readOnly: true }],
                resources: { requests: { cpu: "10m", memory: "8Mi" } },
              },
            ],
            volumes: [{ name: "credentials", secret: { secretName: credentials.metadata.name } }],
          },
        },
      },
    },
    atRome,
  );
  return { namespace: offloading.namespace, remoteNamespace: offloading.remoteNamespaceName };
}
