import { DataKey, Name } from "../api/keys";
import type { Deployment } from "../api/kubernetes";
import { type Component, deployment, Port } from "./component-deployment";
import type { InstallationData } from "./installation-settings";
import type { ManifestOf } from "./manifest";

/** Names of the Deployments, which are those of their ServiceAccounts too. */
export const DeploymentName = {
  controllerManager: "liqo-controller-manager",
  virtualKubelet: "liqo-virtual-kubelet",
  webhook: "liqo-webhook",
} as const;

/** Secret with the webhook's serving certificate; the webhook fills it. */
export const WEBHOOK_SECRET = "liqo-webhook-certs";

type Settings = InstallationData & {
  namespace: string;
  /** ID of the cluster, where it is known: the pods follow it. */
  clusterId?: string;
  /** Whether the controller manager makes a process for each virtual node: then the one for all rests. False by default. */
  virtualKubeletPerNode?: boolean;
};

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
      `--pod-security=${settings.offloading.podSecurity}`,
      ...podPolicyFlags(settings.offloading),
      ...flag("cluster-labels", pairs(settings.clusterLabels)),
      ...flag("api-server-address-override", apiServer.address),
      ...flag("ca-override", apiServer.ca && Buffer.from(apiServer.ca).toString("base64")),
      `--trusted-ca=${apiServer.trustedCa}`,
      ...awsFlags(settings.aws),
      ...telemetryFlags(settings.telemetry),
      ...(settings.virtualKubeletPerNode === true
        ? ["--virtual-kubelet-per-node=true", ...podCidrs(settings).map((cidr) => `--podcidr=${cidr}`)]
        : []),
      ...networkingFlags(settings.networking),
    ],
    resources: resources.controllerManager,
    heapMib: 384,
    ports: [],
    mayOverlap: false,
    environment: [
      ...(settings.aws === undefined ? [] : awsEnvironment(settings.aws)),
      ...(settings.telemetry === undefined ? [] : [TELEMETRY_IDENTITY]),
    ],
  };
}

function virtualKubelet(settings: Settings): Component {
  return {
    component: "virtual-kubelet",
    module: "offloading",
    replicas: settings.virtualKubeletPerNode === true ? 0 : settings.replicas.virtualKubelet,
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
      // One alone, too: while it is replaced there are two, and only one of them may book quotas.
      "--enable-leader-election=true",
      `--secret-name=${WEBHOOK_SECRET}`,
      `--vk-options-default-template=$(POD_NAMESPACE)/${Name.vkOptionsTemplate}`,
      `--enable-resource-enforcement=${settings.enforceResources}`,
      `--liqo-runtime-class=${Name.runtimeClass}`,
      ...podPolicyFlags(settings.offloading),
      ...podCidrs(settings).map((cidr) => `--podcidr=${cidr}`),
    ],
    resources: resources.webhook,
    heapMib: 160,
    ports: [{ name: "webhook", containerPort: Port.webhook }],
    mayOverlap: true,
  };
}

/** Those of the networking where none are given apart. */
function podCidrs(settings: Settings): string[] {
  return settings.podCidrs.length > 0 ? settings.podCidrs : (settings.networking?.podCidrs ?? []);
}

/** For the webhook, which refuses, and for the controllers, which make nothing that it would refuse. */
function podPolicyFlags({
  serviceAccounts,
  priorityClasses,
  runtimeClasses,
}: Settings["offloading"]): string[] {
  return [
    ...flag("allowed-service-accounts", serviceAccounts.join(",")),
    ...flag("allowed-priority-classes", priorityClasses.join(",")),
    ...flag("allowed-runtime-classes", runtimeClasses.join(",")),
  ];
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

/** The keys themselves come from a Secret, by the environment: flags are seen by everybody who may look at the pod. */
function awsFlags(aws: Settings["aws"]): string[] {
  if (aws === undefined) return [];
  return [
    `--aws-region=${aws.region}`,
    `--aws-cluster-name=${aws.clusterName}`,
    "--aws-access-key-id=$(AWS_ACCESS_KEY_ID)",
    "--aws-secret-access-key=$(AWS_SECRET_ACCESS_KEY)",
  ];
}

function awsEnvironment({ credentialsSecret }: NonNullable<Settings["aws"]>) {
  const from = (name: string, key: string) => ({
    name,
    valueFrom: { secretKeyRef: { name: credentialsSecret, key } },
  });
  return [from("AWS_ACCESS_KEY_ID", "accessKeyId"), from("AWS_SECRET_ACCESS_KEY", "secretAccessKey")];
}

const TELEMETRY_IDENTITY = {
  name: "TELEMETRY_IDENTITY",
  valueFrom: { configMapKeyRef: { name: Name.telemetryConfigMap, key: DataKey.telemetryClusterID } },
};

function telemetryFlags(telemetry: Settings["telemetry"]): string[] {
  if (telemetry === undefined) return [];
  return [`--telemetry-endpoint=${telemetry.endpoint}`, "--telemetry-identity=$(TELEMETRY_IDENTITY)"];
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
