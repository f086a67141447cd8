import {
  Configuration,
  EndpointSlice,
  FirewallConfiguration,
  InternalNode,
  Label,
  LabelValue,
  Name,
  Namespace,
  NamespaceOffloading,
  Network,
  Node,
  type ObjectRef,
  ResourceSlice,
  RouteConfiguration,
  Service,
  ShadowPod,
  Tenant,
  VirtualNode,
  VkOptionsTemplate,
} from "../api";
import { ownAddresses } from "../ipam/own-addresses";
import type { PeerIPContext } from "../ipam/peer-ip-faults";
import type { KubeClient } from "../kube";
import { DEFAULT_POD_POLICY, type PodPolicy } from "../plan/pod-policy";
import {
  nameFirewallRules,
  validateConfiguration,
  validateFirewallConfiguration,
  validatePeerGateway,
  validatePeerIP,
  validateRouteConfiguration,
} from "./networking";
import { completeTenant, labelForeignCluster, validateTenant } from "./tenant";
import { validateIdentity } from "./identity";
import { validateNamespaceOffloading } from "./namespace-offloading";
import { type Leadership, soleLeader } from "./leadership";
import { validatePeerWrite } from "./peer-copy";
import { validateConsumerSecret, validateConsumerService, validatePeerSecret } from "./secret-and-service";
import { podWebhook } from "./pod";
import { validateQuota } from "./quota";
import { type AccountingContext, QuotaAccounting } from "./quota-accounting";
import { QuotaLedger } from "./quota-ledger";
import { validateResourceSlice } from "./resource-slice";
import { shadowPodValidator, stampCreator } from "./shadow-pod";
import { tenantOf } from "../plan/peer-objects";
import { virtualNodeWebhook } from "./virtual-node";
import type { Routes } from "./admission-review";

/** What the webhooks need to know of the installation. */
export interface AdmissionOptions {
  clusterID: string;
  liqoNamespace: string;
  podCidrs: readonly string[];
  runtimeClass: string;
  /** Options of virtual nodes that name none. */
  vkOptionsTemplate: Required<ObjectRef>;
  enforceResources: boolean;
  /** What pods of consumers may name of this cluster; of what no pod needs, nothing by default. */
  podPolicy?: PodPolicy;
  /** Who books quotas. Default: this process, alone. */
  leadership?: Leadership;
}

/**
 * All webhooks by path. The frequent ones answer from watches; the rare ones ask the API server, whose answer is never old.
 */
export function admissionRoutes(context: AccountingContext, options: AdmissionOptions): Routes {
  return {
    ...offloadingRoutes(context, options),
    "/mutate/firewallconfigurations": nameFirewallRules,
    "/validate/firewallconfigurations": async (request) =>
      validateFirewallConfiguration(request, await context.client.list(FirewallConfiguration)),
    "/validate/routeconfigurations": async (request) =>
      validateRouteConfiguration(request, await context.client.list(RouteConfiguration)),
    "/validate/configurations": async (request) =>
      validateConfiguration(request, await labelsOf(context.client, request.namespace)),
    "/validate/peer-ips": (request) =>
      validatePeerIP(request, () => peerIPContext(context.client, request.namespace)),
    "/mutate/foreign-cluster": labelForeignCluster,
    "/mutate/tenants": completeTenant,
    "/validate/tenants": async (request) =>
      validateTenant(request, {
        namespaceLabels: await namespaceLabels(context.client, request.namespace),
        tenants: (await context.client.list(Tenant)).map(refOf),
      }),
    "/validate/resourceslices": async (request) => {
      const labelSelector = `${Label.replication}=${LabelValue.true}`;
      const slices = await context.client.list(ResourceSlice, { labelSelector });
      return validateResourceSlice(request, {
        ownClusterID: options.clusterID,
        namespaceLabels: await labelsOf(context.client, request.namespace),
        localSlices: slices.map(refOf),
      });
    },
    "/validate/peer-copies": (request) => validatePeerWrite(request, { ownClusterID: options.clusterID }),
    "/validate/peer-secrets": validatePeerSecret,
    "/validate/consumer-secrets": async (request) =>
      validateConsumerSecret(request, await labelsOf(context.client, request.namespace)),
    "/validate/peer-gateways": async (request) =>
      validatePeerGateway(request, await labelsOf(context.client, request.namespace)),
    "/validate/consumer-services": async (request) =>
      validateConsumerService(request, await labelsOf(context.client, request.namespace)),
    "/validate/identities": async (request) =>
      validateIdentity(request, {
        ownClusterID: options.clusterID,
        namespaceLabels: await labelsOf(context.client, request.namespace),
      }),
    "/validate/quotas": async (request) =>
      validateQuota(request, await labelsOf(context.client, request.namespace)),
  };
}

function offloadingRoutes(context: AccountingContext, options: AdmissionOptions): Routes {
  const { client, informers, clock } = context;
  const { clusterID, liqoNamespace, podCidrs, runtimeClass } = options;
  const offloadings = informers.informer(NamespaceOffloading);
  const remoteNamespaces = informers.informer(Namespace, { labelSelector: Label.remoteClusterID });
  const ledger = new QuotaLedger(() => clock.monotonic());
  const accounting = options.enforceResources ? new QuotaAccounting(context, ledger) : undefined;
  const offloadingOf = async (namespace: string) => {
    const ref = { name: Name.namespaceOffloading, namespace };
    // The namespace is labelled after its NamespaceOffloading was made, so a miss means that our watch lags.
    return (offloadings.get(ref.name, namespace) ?? (await client.get(NamespaceOffloading, ref)))?.spec;
  };
  return {
    "/mutate/pod": podWebhook({
      offloadingOf: async (namespace) => withStrategy(await offloadingOf(namespace)),
      runtimeClass,
    }),
    "/mutate/shadowpods": stampCreator,
    "/validate/shadowpods": shadowPodValidator({
      enforce: options.enforceResources,
      policy: options.podPolicy ?? DEFAULT_POD_POLICY,
      ledger,
      ready: () => accounting?.ready ?? true,
      leadership: options.leadership ?? soleLeader,
      quotaOf: (creator) => accounting?.quotaOf(creator),
      makeRoom: (creator) => accounting?.makeRoom(creator) ?? Promise.resolve(false),
      namespaceLabels: async (name) =>
        remoteNamespaces.get(name)?.metadata.labels ?? (await namespaceLabels(client, name)),
      exists: async (namespace, name) => (await client.get(ShadowPod, { namespace, name })) !== undefined,
    }),
    "/validate/namespace-offloading": async (request) =>
      validateNamespaceOffloading(request, {
        clusterID,
        liqoNamespace,
        namespaceLabels: await labelsOf(client, request.namespace),
        // A miss while the watch lags is the controller's to refuse.
        offloadings: offloadings.list(),
      }),
    "/mutate/virtualnodes": virtualNodeWebhook({
      context: { clusterID, liqoNamespace, podCidrs },
      optionsOf: (node) => virtualKubeletOptions(client, node, options.vkOptionsTemplate),
      nameTaken: (node) => virtualNodeNameTaken(client, node),
      namespaceLabels: (namespace) => labelsOf(client, namespace),
    }),
  };
}

/** Read for each request, as peers seldom make IPs. */
async function peerIPContext(client: KubeClient, namespace: string): Promise<PeerIPContext> {
  const apiServer = { namespace: "default", name: "kubernetes" };
  const [labels, nodes, internalNodes, service, slice, networks, configurations] = await Promise.all([
    labelsOf(client, namespace),
    client.list(Node),
    client.list(InternalNode),
    client.get(Service, apiServer),
    client.get(EndpointSlice, apiServer),
    client.list(Network),
    client.list(Configuration),
  ]);
  const own = ownAddresses({
    nodes,
    internalNodes,
    apiServer: {
      services: service === undefined ? [] : [service],
      endpointSlices: slice === undefined ? [] : [slice],
    },
  });
  return { peer: tenantOf(labels) ?? "", own, networks, configurations };
}

function withStrategy(spec: NamespaceOffloading["spec"] | undefined) {
  if (spec === undefined) return undefined;
  const { podOffloadingStrategy = "LocalAndRemote", clusterSelector } = spec;
  return { podOffloadingStrategy, ...(clusterSelector === undefined ? {} : { clusterSelector }) };
}

async function virtualKubeletOptions(client: KubeClient, node: VirtualNode, fallback: Required<ObjectRef>) {
  const named = node.spec.vkOptionsTemplateRef;
  const ref = named?.name
    ? { name: named.name, namespace: named.namespace || node.metadata.namespace || fallback.namespace }
    : fallback;
  const template = await client.get(VkOptionsTemplate, ref);
  if (template !== undefined) return template.spec;
  throw new Error(
    `VkOptionsTemplate "${ref.namespace}/${ref.name}" not found; create it, or name another in spec.vkOptionsTemplateRef`,
  );
}

/** The Node takes the VirtualNode's name, so both must be free in the whole cluster. */
async function virtualNodeNameTaken(client: KubeClient, node: VirtualNode): Promise<string | undefined> {
  const { name, namespace } = node.metadata;
  const subject = `VirtualNode "${namespace}/${name}": metadata.name`;
  // Where there is to be no Node, a user may have made one by that name for the pods.
  if (node.spec.createNode !== false && (await client.get(Node, { name })) !== undefined)
    return `${subject}: node ${name} already exists, and the virtual node would need a Node of that name; choose another name for the VirtualNode, or delete the Node "${name}" if nobody needs it`;
  const namesakes = await client.list(VirtualNode, { fieldSelector: `metadata.name=${name}` });
  const other = namesakes.find((one) => one.metadata.namespace !== namespace);
  return other === undefined
    ? undefined
    : `${subject}: virtual node ${name} already exists in namespace ${other.metadata.namespace}, and names of virtual nodes are unique in the cluster; choose another name`;
}

async function namespaceLabels(
  client: KubeClient,
  name: string,
): Promise<Readonly<Record<string, string>> | undefined> {
  const namespace = await client.get(Namespace, { name });
  return namespace === undefined ? undefined : (namespace.metadata.labels ?? {});
}

/** The same, where one that is not there counts as one without labels. */
async function labelsOf(client: KubeClient, name: string): Promise<Readonly<Record<string, string>>> {
  return (await namespaceLabels(client, name)) ?? {};
}

function refOf({ metadata: { name, namespace = "" } }: { metadata: ObjectRef }): {
  name: string;
  namespace: string;
} {
  return { name, namespace };
}
