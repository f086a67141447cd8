import { DataKey, Label, LabelValue, Name } from "../api/keys";
import type { Deployment } from "../api/kubernetes";
import { componentLabels, type Module, selectorLabels } from "./component-labels";
import type { InstallationData } from "./installation-settings";
import type { ManifestOf } from "./manifest";

/** Ports that every component serves; the virtual kubelet and the webhook have one more each. */
export const Port = { health: 8081, metrics: 8082, webhook: 9443, kubelet: 10250 } as const;

/** Names of the Deployments, which are those of their ServiceAccounts too. */
export const DeploymentName = {
  controllerManager: "liqo-controller-manager",
  virtualKubelet: "liqo-virtual-kubelet",
  webhook: "liqo-webhook",
} as const;

/** Secret with the webhook's serving certificate; the webhook fills it. */
export const WEBHOOK_SECRET = "liqo-webhook-certs";

type Settings = InstallationData & { namespace: string };

interface Component {
  /** What the runtime's entry point calls it. */
  component: "controller-manager" | "virtual-kubelet" | "webhook";
  module: Module;
  replicas: number;
  flags: string[];
  resources: Settings["resources"]["webhook"];
  /** Cap of the JavaScript heap, in MiB: collects rather than grows, and fails by itself rather than by the kernel's choice. */
  heapMib: number;
  ports: { name: string; containerPort: number }[];
  /** Whether two generations of the component may work at once, without electing a leader. */
  mayOverlap: boolean;
  /** More labels for its pods. */
  podLabels?: Record<string, string>;
}

/** The Deployments of the control plane: one image, a component each. */
export function deployments(settings: Settings): Record<keyof typeof DeploymentName, ManifestOf<Deployment>> {
  return {
    controllerManager: deployment(settings, controllerManager(settings)),
    virtualKubelet: deployment(settings, virtualKubelet(settings)),
    webhook: deployment(settings, webhook(settings)),
  };
}

function controllerManager(settings: Settings): Component {
  const { apiServer, replicas, resources } = settings;
  return {
    component: "controller-manager",
    module: "controller-manager",
    replicas: replicas.controllerManager,
    flags: [
      ...commonFlags(),
      `--enable-leader-election=${replicas.controllerManager > 1}`,
      `--foreign-cluster-ping-interval=${settings.peerPingIntervalSeconds}s`,
      `--default-resource-slice-class-enabled=${settings.defaultResourceSliceClassEnabled}`,
      `--default-limits-enforcement=${settings.limitsEnforcement}`,
      `--default-node-resources=${pairs(settings.defaultNodeResources)}`,
      ...flag("cluster-labels", pairs(settings.clusterLabels)),
      ...flag("api-server-address-override", apiServer.address),
      ...flag("ca-override", apiServer.ca && Buffer.from(apiServer.ca).toString("base64")),
      `--trusted-ca=${apiServer.trustedCa}`,
      ...networkingFlags(settings.networking),
    ],
    resources: resources.controllerManager,
    heapMib: 384,
    ports: [],
    mayOverlap: false,
  };
}

function virtualKubelet(settings: Settings): Component {
  return {
    component: "virtual-kubelet",
    module: "offloading",
    replicas: settings.replicas.virtualKubelet,
    flags: [
      ...commonFlags(),
      `--replicas=${settings.replicas.virtualKubelet}`,
      ...podCidrs(settings).map((cidr) => `--local-podcidr=${cidr}`),
    ],
    resources: settings.resources.virtualKubelet,
    heapMib: 768,
    ports: [{ name: "kubelet", containerPort: Port.kubelet }],
    mayOverlap: true,
  };
}

function webhook(settings: Settings): Component {
  const { replicas, resources } = settings;
  return {
    component: "webhook",
    module: "webhook",
    replicas: replicas.webhook,
    flags: [
      ...commonFlags(),
      `--enable-leader-election=${replicas.webhook > 1}`,
      `--secret-name=${WEBHOOK_SECRET}`,
      `--vk-options-default-template=$(POD_NAMESPACE)/${Name.vkOptionsTemplate}`,
      `--enable-resource-enforcement=${settings.enforceResources}`,
      `--liqo-runtime-class=${Name.runtimeClass}`,
      ...podCidrs(settings).map((cidr) => `--podcidr=${cidr}`),
    ],
    resources: resources.webhook,
    heapMib: 160,
    ports: [{ name: "webhook", containerPort: Port.webhook }],
    mayOverlap: true,
    // The Service of the leader finds it. Of several, the one that leads marks itself.
    ...(replicas.webhook > 1 ? {} : { podLabels: { [Label.leader]: LabelValue.true } }),
  };
}

/** Those of the networking where none are given apart. */
function podCidrs(settings: Settings): string[] {
  return settings.podCidrs.length > 0 ? settings.podCidrs : (settings.networking?.podCidrs ?? []);
}

function networkingFlags(networking: Settings["networking"]): string[] {
  if (networking === undefined) return ["--networking-enabled=false"];
  const { pools, apiServerBy, fabric, gateway } = networking;
  return [
    "--networking-enabled=true",
    `--pools=${pools.join(",")}`,
    `--api-server-ip-use-endpointslices=${apiServerBy === "endpoints"}`,
    `--geneve-port=${fabric.overlayPort}`,
    `--overlay-notrack-enabled=${fabric.overlayWithoutTracking}`,
    `--fabric-full-masquerade-enabled=${fabric.fullMasquerade}`,
    `--fabric-route-rule-priority=${fabric.routeRulePriority}`,
    `--gateway-masquerade-bypass-enabled=${fabric.gatewayMasqueradeBypass}`,
    `--gateway-mss-clamp-enabled=${gateway.mssClamp}`,
    `--gateway-mss-clamp-value=${gateway.mssClampValue}`,
  ];
}

function commonFlags(): string[] {
  return ["--cluster-id=$(CLUSTER_ID)", "--liqo-namespace=$(POD_NAMESPACE)"];
}

function flag(name: string, value: string | undefined): string[] {
  return value === undefined || value === "" ? [] : [`--${name}=${value}`];
}

function pairs(values: Record<string, string>): string {
  return Object.entries(values)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
}

function deployment(settings: Settings, component: Component): ManifestOf<Deployment> {
  const { component: name, module, replicas } = component;
  const labels = componentLabels(name, module);
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: `liqo-${name}`, namespace: settings.namespace, labels },
    spec: {
      replicas,
      selector: { matchLabels: selectorLabels(name) },
      strategy: component.mayOverlap || replicas > 1 ? { type: "RollingUpdate" } : { type: "Recreate" },
      template: {
        metadata: { labels: { ...labels, ...component.podLabels } },
        spec: {
          serviceAccountName: `liqo-${name}`,
          imagePullSecrets: settings.imagePullSecrets.map((secret) => ({ name: secret })),
          securityContext: { runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000 },
          terminationGracePeriodSeconds: 20,
          containers: [container(settings, component)],
        },
      },
    },
  };
}

type Container = NonNullable<
  NonNullable<NonNullable<NonNullable<ManifestOf<Deployment>["spec"]>["template"]>["spec"]>["containers"]
>[number];

function container(settings: Settings, component: Component): Container {
  const fromPod = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  return {
    name: component.component,
    image: settings.image,
    imagePullPolicy: settings.imagePullPolicy,
    args: [component.component, ...component.flags],
    env: [
      {
        name: "CLUSTER_ID",
        valueFrom: { configMapKeyRef: { name: Name.clusterIDConfigMap, key: DataKey.clusterID } },
      },
      fromPod("POD_NAME", "metadata.name"),
      fromPod("POD_NAMESPACE", "metadata.namespace"),
      fromPod("POD_IP", "status.podIP"),
      // A small young generation costs a little more collecting and saves tens of megabytes a process.
      { name: "NODE_OPTIONS", value: `--max-old-space-size=${component.heapMib} --max-semi-space-size=4` },
    ],
    ports: [
      ...component.ports,
      { name: "healthz", containerPort: Port.health },
      { name: "metrics", containerPort: Port.metrics },
    ],
    readinessProbe: { httpGet: { path: "/readyz", port: "healthz" }, periodSeconds: 1, failureThreshold: 3 },
    livenessProbe: {
      httpGet: { path: "/healthz", port: "healthz" },
      initialDelaySeconds: 10,
      periodSeconds: 10,
      failureThreshold: 3,
    },
    resources: component.resources,
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
  };
}
