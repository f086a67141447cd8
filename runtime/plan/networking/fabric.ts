import type { DaemonSet } from "../../api/kubernetes";
import { componentLabels, type ManifestOf, selectorLabels } from "../manifest";
import type { InstallationData } from "../installation-settings";
import { livenessProbe } from "../component-deployment";
import { NETWORK_ADMINISTRATOR, OFF_VIRTUAL_NODES } from "./gateway-templates";
import { NetworkingRole } from "../rbac/networking";
import type { NetworkingSettings } from "./settings";

type Settings = Pick<InstallationData, "image" | "imagePullPolicy" | "imagePullSecrets"> & {
  networking: NetworkingSettings;
};

const COMPONENT = "fabric";

/** In the node's own namespace, hence the numbers that upstream's agent has. */
const Port = { health: 8081, metrics: 8082 } as const;

/** The agent on each node, which carries out what nodes need for the networks of peers (networking reference 11). */
export function fabricDaemonSet(namespace: string, settings: Settings): ManifestOf<DaemonSet> {
  const { image, imagePullPolicy, imagePullSecrets, networking } = settings;
  const { fabric } = networking;
  const labels = componentLabels(COMPONENT, "networking");
  const fromPod = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: NetworkingRole.fabric, namespace, labels },
    spec: {
      selector: { matchLabels: selectorLabels(COMPONENT) },
      // Traffic goes on while the agent is away.
      updateStrategy: { type: "RollingUpdate" },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: NetworkingRole.fabric,
          imagePullSecrets: imagePullSecrets.map((name) => ({ name })),
          hostNetwork: true,
          dnsPolicy: "ClusterFirstWithHostNet",
          // Time to take its things away when it is removed for good.
          terminationGracePeriodSeconds: 30,
          nodeSelector: fabric.nodeSelector,
          affinity: OFF_VIRTUAL_NODES,
          tolerations: fabric.tolerations,
          containers: [
            {
              name: COMPONENT,
              image,
              imagePullPolicy,
              args: [
                "fabric",
                `--geneve-port=${fabric.overlayPort}`,
                `--health-probe-address=:${Port.health}`,
                `--metrics-address=:${Port.metrics}`,
              ],
              env: [
                fromPod("NODE_NAME", "spec.nodeName"),
                fromPod("POD_NAME", "metadata.name"),
                fromPod("POD_NAMESPACE", "metadata.namespace"),
                { name: "NODE_OPTIONS", value: "--max-old-space-size=160 --max-semi-space-size=4" },
              ],
              ports: [
                { name: "healthz", containerPort: Port.health },
                { name: "metrics", containerPort: Port.metrics },
              ],
              readinessProbe: {
                httpGet: { path: "/readyz", port: "healthz" },
                periodSeconds: 1,
                failureThreshold: 3,
              },
              livenessProbe: livenessProbe("healthz"),
              resources: fabric.resources,
              securityContext: NETWORK_ADMINISTRATOR,
            },
          ],
        },
      },
    },
  };
}
