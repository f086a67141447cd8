import { createHash } from "node:crypto";

import { crds } from "../api/crd";
import { DataKey, Label, LabelValue, Name, VIRTUAL_NODE_TOLERATION, WellKnownLabel } from "../api/keys";
import type {
  ConfigMap,
  CustomResourceDefinition,
  Namespace,
  RuntimeClass,
  Service,
} from "../api/kubernetes";
import type { VkOptionsTemplate } from "../api/offloading";
import { parseArguments } from "./arguments";
import { metricAgentManifests, proxyManifests } from "./optional-components";
import { DeploymentName, deployments } from "./deployments";
import { Port } from "./component-deployment";
import {
  type InstallationData,
  type InstallationSettings,
  installationSettingsSchema,
} from "./installation-settings";
import { componentLabels, MANAGED_BY, type Manifest, type ManifestOf, selectorLabels } from "./manifest";
import { fabricDaemonSet } from "./networking/fabric";
import { clientTemplate, serverTemplate } from "./networking/gateway-templates";
import { networkManifests } from "./networking/networks";
import {
  awsAuthManifests,
  clusterRoleBindings,
  clusterRoles,
  type InstalledModules,
  roleBindings,
  roles,
  serviceAccounts,
  virtualKubeletManifests,
  virtualKubeletPerNodeManifests,
} from "./roles";
import { webhookConfigurations } from "./webhooks";
import { leaderServiceName } from "./webhook-registration";

/**
 * Everything that an installation of the runtime puts into a cluster, in an order in which it can be applied.
 *
 * @throws InvalidObjectError when a setting is wrong
 */
export function installation(settings: InstallationSettings): Manifest[] {
  const {
    clusterId,
    telemetryIdentity = "",
    namespace,
    createNamespace,
    proxy,
    metricAgent,
    virtualKubeletPerNode,
    ...data
  } = parseArguments(installationSettingsSchema, "Installation", settings);
  return [
    ...definitions(),
    ...(createNamespace ? [liqoNamespace(namespace)] : []),
    ...foundation(namespace, { networking: data.networking !== undefined }),
    clusterIdConfigMap(namespace, clusterId),
    ...(data.telemetry === undefined ? [] : [telemetryConfigMap(namespace, telemetryIdentity)]),
    vkOptionsTemplate(namespace, data),
    ...(virtualKubeletPerNode ? virtualKubeletPerNodeManifests(namespace) : []),
    ...Object.values(deployments({ namespace, clusterId, virtualKubeletPerNode, ...data })),
    ...virtualKubeletManifests(namespace),
    ...networking(namespace, data),
    ...(proxy ? proxyManifests({ namespace, ...data }) : []),
    ...(metricAgent ? metricAgentManifests({ namespace, ...data }) : []),
    ...(data.aws === undefined ? [] : awsAuthManifests(namespace)),
  ];
}

/** The networks of the cluster, what gateways are made from, and the agent on each node; nothing without networking. */
function networking(namespace: string, data: InstallationData): Manifest[] {
  const { networking: settings } = data;
  if (settings === undefined) return [];
  const whole = { ...data, networking: settings };
  return [
    ...networkManifests(namespace, settings),
    serverTemplate(namespace, whole),
    clientTemplate(namespace, whole),
    fabricDaemonSet(namespace, whole),
  ];
}

/**
 * What no data goes into: accounts, roles, the webhook's Service and registrations, the runtime class. The rights of the virtual kubelet in all namespaces are
 * not among them, since they come after the controllers.
 */
export function foundation(namespace: string, modules: InstalledModules): Manifest[] {
  const { mutating, validating } = webhookConfigurations({ namespace, serviceName: DeploymentName.webhook });
  return [
    ...serviceAccounts(namespace, modules),
    ...clusterRoles(modules),
    ...clusterRoleBindings(namespace, modules),
    ...roles(namespace),
    ...roleBindings(namespace),
    webhookService(namespace, DeploymentName.webhook, selectorLabels("webhook")),
    webhookService(namespace, leaderServiceName(DeploymentName.webhook), {
      ...selectorLabels("webhook"),
      [Label.leader]: LabelValue.true,
    }),
    mutating,
    validating,
    runtimeClass(),
  ];
}

export function liqoNamespace(name: string): ManifestOf<Namespace> {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name, labels: componentLabels("liqo", "core") } };
}

/** Says who the cluster is; everything that needs to know finds it by its label (control plane reference 3.1). */
export function clusterIdConfigMap(namespace: string, clusterId: string): ManifestOf<ConfigMap> {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: Name.clusterIDConfigMap,
      namespace,
      labels: componentLabels(LabelValue.clusterIDConfigMap, "core"),
    },
    data: { [DataKey.clusterID]: clusterId },
  };
}

/** By what the receiver of telemetry tells clusters apart; it says nothing about the cluster (control plane reference 16.3). */
export function telemetryConfigMap(namespace: string, identity: string): ManifestOf<ConfigMap> {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: Name.telemetryConfigMap,
      namespace,
      labels: componentLabels(LabelValue.telemetryConfigMap, "core"),
    },
    data: { [DataKey.telemetryClusterID]: identity },
  };
}

function webhookService(
  namespace: string,
  name: string,
  selector: Record<string, string>,
): ManifestOf<Service> {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace, labels: componentLabels("webhook", "webhook") },
    spec: {
      type: "ClusterIP",
      selector,
      ports: [{ name: "webhook", port: Port.webhook, targetPort: "webhook", protocol: "TCP" }],
    },
  };
}

/** A pod with this runtime class goes to virtual nodes, whatever its namespace's offloading says (offloading reference 1.3). */
function runtimeClass(): ManifestOf<RuntimeClass> {
  return {
    apiVersion: "node.k8s.io/v1",
    kind: "RuntimeClass",
    metadata: { name: Name.runtimeClass, labels: componentLabels("runtime-class", "offloading") },
    handler: Name.runtimeClass,
    scheduling: {
      nodeSelector: { [Label.nodeType]: LabelValue.virtualNode },
      tolerations: [{ ...VIRTUAL_NODE_TOLERATION }],
    },
  };
}

/** Annotations of cloud load balancers, which mean nothing, or harm, in another cluster (offloading reference 17.3). */
const ANNOTATIONS_NOT_REFLECTED = [
  "cloud.google.com/neg",
  "cloud.google.com/neg-status",
  "kubernetes.digitalocean.com/load-balancer-id",
  "ingress.kubernetes.io/backends",
  "ingress.kubernetes.io/forwarding-rule",
  "ingress.kubernetes.io/target-proxy",
  "ingress.kubernetes.io/url-map",
  "metallb.universe.tf/address-pool",
  "metallb.universe.tf/ip-allocated-from-pool",
  "metallb.universe.tf/loadBalancerIPs",
  "loadbalancer.openstack.org/load-balancer-id",
];

/** The options that every virtual node takes unless it names others. */
export function vkOptionsTemplate(
  namespace: string,
  { image, imagePullPolicy, imagePullSecrets }: InstallationData,
): ManifestOf<VkOptionsTemplate> {
  return {
    apiVersion: "offloading.liqo.io/v1beta1",
    kind: "VkOptionsTemplate",
    metadata: {
      name: Name.vkOptionsTemplate,
      namespace,
      labels: componentLabels("virtual-kubelet", "offloading"),
    },
    spec: {
      createNode: true,
      disableNetworkCheck: false,
      containerImage: image,
      pullPolicy: imagePullPolicy,
      ...(imagePullSecrets.length > 0
        ? { imagePullSecrets: imagePullSecrets.map((name) => ({ name })) }
        : {}),
      metricsEnabled: false,
      replicas: 1,
      extraArgs: ["--enable-apiserver-support=true"],
      annotationsNotReflected: [...ANNOTATIONS_NOT_REFLECTED],
    },
  };
}

const NAME = "crds";

/** Selects the definitions that an installation made, those of another version included. */
export const DEFINITIONS_SELECTOR = `${WellKnownLabel.appName}=${NAME},${WellKnownLabel.appManagedBy}=${MANAGED_BY}`;

/** The definitions of every kind, labelled as ours. All of them, so that no module has to be added to a cluster later. */
export function definitions(): CustomResourceDefinition[] {
  return crds().map((crd) => ({
    ...crd,
    metadata: { ...crd.metadata, labels: { ...componentLabels(NAME, "core"), ...crd.metadata.labels } },
  }));
}

let digest: string | undefined;

/** Changes when any definition does. Computed once: the definitions of a version never change. */
export function definitionsDigest(): string {
  digest ??= createHash("sha256").update(JSON.stringify(definitions())).digest("hex").slice(0, 16);
  return digest;
}
