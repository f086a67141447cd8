import * as k8s from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";
import * as liqo from "pulumi-liqo";

/** Answers with its name, and prints who it is and what it was given, every few seconds. */
const script = `mkdir /tmp/shop
echo "$GREETING from pod $POD_NAME" > /tmp/shop/index.html
httpd -p 8080 -h /tmp/shop
while true; do
  echo "$GREETING from pod $POD_NAME, with a secret of $(wc -c < /etc/shop/password) characters"
  sleep 5
done`;

/** Asks the shop, every few seconds, and prints what it answers. */
const visit = `while true; do
  answer=$(timeout 3 wget -qO- http://shop.shop) && echo "$answer answered $POD_NAME"
  sleep 2
done`;

/** In every container: the name of its pod. */
const podName = { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } };

/**
 * The application: three pods that only run at a provider, a ConfigMap in their environment, a Secret in a file, and a Service; and a visitor that
 * runs at the consumer and asks them.
 */
export function shop(
  consumer: liqo.ClusterArgs & { provider: k8s.Provider },
  peering: liqo.Peering,
  image: string,
): {
  namespace: pulumi.Output<string>;
  remoteNamespace: pulumi.Output<string>;
  visitors: pulumi.Output<string>;
} {
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
                  podName,
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
  new k8s.core.v1.Service(
    "shop",
    {
      metadata: { ...metadata, name: "shop" },
      spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
    },
    atRome,
  );

  // A namespace that stays at home, and so do its pods.
  const visitors = new k8s.core.v1.Namespace("visitors", { metadata: { name: "visitors" } }, atRome);
  new k8s.apps.v1.Deployment(
    "visitor",
    {
      metadata: { namespace: visitors.metadata.name, name: "visitor" },
      spec: {
        selector: { matchLabels: { app: "visitor" } },
        template: {
          metadata: { labels: { app: "visitor" } },
          spec: {
            terminationGracePeriodSeconds: 1,
            containers: [{ name: "visitor", image, command: ["sh", "-c", visit], env: [podName] }],
          },
        },
      },
    },
    atRome,
  );
  return {
    namespace: offloading.namespace,
    remoteNamespace: offloading.remoteNamespaceName,
    visitors: visitors.metadata.name,
  };
}
