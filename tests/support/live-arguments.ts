/**
 * Every argument of every component, with where a test changes it on a live stack. tests/unit/components/live-arguments.test.ts fails where an argument is
 * missing here. Those of parts that are arguments of others as well (the link in a peering, an installation in a fleet) are told once, at the part.
 */

/** What a change of an argument is to a stack that is there. */
export type Effect =
  /** The other side has it after one `up`. */
  | "carried"
  /** Its own cluster has it after one `up`; controllers carry the rest. */
  | "its cluster"
  /** The preview refuses it, or admission. */
  | "refused"
  /** Other objects take the place of the former ones. */
  | "made anew"
  /** How the cluster is reached, or how long it is waited; nothing in the clusters changes. */
  | "access";

const LIVE = "live-arguments";
const PEERED = "network-peering";
const WHOLE = "components";
const ACCESS = "changed-arguments";
/** No test changes it on a live stack yet. */
const NONE = "";

export const LIVE_ARGUMENTS: Readonly<Record<string, readonly [Effect, test: string]>> = {
  "Installation.cluster": ["access", ACCESS],
  "Installation.clusterId": ["refused", ACCESS],
  "Installation.namespace": ["refused", ACCESS],
  "Installation.createNamespace": ["made anew", NONE],
  "Installation.image": ["its cluster", LIVE],
  "Installation.imagePullPolicy": ["its cluster", LIVE],
  "Installation.imagePullSecrets": ["its cluster", LIVE],
  "Installation.clusterLabels": ["its cluster", LIVE],
  "Installation.podCidrs": ["its cluster", LIVE],
  "Installation.networking": ["refused", PEERED],
  "Installation.networking.podCidrs": ["carried", LIVE],
  "Installation.networking.serviceCidr": ["made anew", NONE],
  "Installation.networking.externalCidr": ["carried", NONE],
  "Installation.networking.internalCidr": ["made anew", NONE],
  "Installation.networking.reservedSubnets": ["its cluster", LIVE],
  "Installation.networking.pools": ["its cluster", LIVE],
  "Installation.networking.apiServerBy": ["its cluster", LIVE],
  "Installation.networking.fabric": ["its cluster", LIVE],
  "Installation.networking.gateway": ["carried", LIVE],
  "Installation.apiServer": ["carried", NONE],
  "Installation.aws": ["its cluster", NONE],
  "Installation.virtualKubeletPerNode": ["its cluster", WHOLE],
  "Installation.proxy": ["its cluster", WHOLE],
  "Installation.metricAgent": ["its cluster", WHOLE],
  "Installation.telemetry": ["its cluster", WHOLE],
  "Installation.defaultNodeResources": ["its cluster", LIVE],
  "Installation.defaultResourceSliceClassEnabled": ["its cluster", WHOLE],
  "Installation.enforceResources": ["its cluster", LIVE],
  "Installation.limitsEnforcement": ["its cluster", LIVE],
  "Installation.offloading": ["its cluster", LIVE],
  "Installation.peerPingIntervalSeconds": ["its cluster", LIVE],
  "Installation.replicas": ["its cluster", LIVE],
  "Installation.resources": ["its cluster", LIVE],
  "Installation.timeoutSeconds": ["access", LIVE],

  "AuthenticationPeering.consumer": ["access", ACCESS],
  "AuthenticationPeering.provider": ["access", ACCESS],
  "AuthenticationPeering.createTenantNamespaces": ["made anew", NONE],
  "AuthenticationPeering.proxyUrl": ["carried", LIVE],
  "AuthenticationPeering.timeoutSeconds": ["access", LIVE],

  "NetworkPeering.consumer": ["access", ACCESS],
  "NetworkPeering.provider": ["access", ACCESS],
  "NetworkPeering.createTenantNamespaces": ["made anew", NONE],
  "NetworkPeering.server": ["refused", LIVE],
  "NetworkPeering.link": ["carried", LIVE],
  "NetworkPeering.link.serviceType": ["carried", LIVE],
  "NetworkPeering.link.port": ["carried", LIVE],
  "NetworkPeering.link.nodePort": ["carried", NONE],
  // Given, it is carried; taken out, it stays on the Service.
  "NetworkPeering.link.loadBalancerIp": ["carried", NONE],
  "NetworkPeering.link.serviceAnnotations": ["carried", LIVE],
  "NetworkPeering.link.address": ["carried", LIVE],
  "NetworkPeering.link.addressPort": ["carried", LIVE],
  "NetworkPeering.link.mtu": ["carried", LIVE],
  "NetworkPeering.link.serverTemplate": ["carried", NONE],
  "NetworkPeering.link.clientTemplate": ["carried", NONE],
  "NetworkPeering.timeoutSeconds": ["access", LIVE],

  "Peering.consumer": ["access", ACCESS],
  "Peering.provider": ["access", ACCESS],
  "Peering.bidirectional": ["carried", WHOLE],
  "Peering.resources": ["carried", WHOLE],
  "Peering.reverseResources": ["carried", NONE],
  "Peering.resourceSliceClass": ["carried", NONE],
  "Peering.createResourceSlice": ["carried", NONE],
  "Peering.createVirtualNode": ["its cluster", NONE],
  "Peering.networking": ["carried", NONE],
  "Peering.inBand": ["carried", NONE],
  "Peering.timeoutSeconds": ["access", LIVE],

  "ResourceSlice.consumer": ["access", ACCESS],
  "ResourceSlice.providerClusterId": ["made anew", NONE],
  "ResourceSlice.tenantNamespace": ["made anew", NONE],
  "ResourceSlice.sliceName": ["made anew", NONE],
  "ResourceSlice.class": ["carried", NONE],
  "ResourceSlice.resources": ["carried", LIVE],
  "ResourceSlice.createVirtualNode": ["its cluster", NONE],
  "ResourceSlice.timeoutSeconds": ["access", LIVE],

  "VirtualNode.consumer": ["access", NONE],
  "VirtualNode.providerClusterId": ["made anew", NONE],
  "VirtualNode.nodeName": ["made anew", NONE],
  "VirtualNode.kubeconfigSecretName": ["its cluster", NONE],
  "VirtualNode.tenantNamespace": ["made anew", NONE],
  "VirtualNode.resources": ["its cluster", NONE],
  "VirtualNode.labels": ["its cluster", NONE],
  "VirtualNode.annotations": ["its cluster", NONE],
  "VirtualNode.createNode": ["its cluster", NONE],
  "VirtualNode.disableNetworkCheck": ["its cluster", NONE],
  "VirtualNode.nodeSelector": ["its cluster", NONE],
  "VirtualNode.runtimeClassName": ["its cluster", NONE],
  "VirtualNode.storageClasses": ["its cluster", NONE],
  "VirtualNode.ingressClasses": ["its cluster", NONE],
  "VirtualNode.loadBalancerClasses": ["its cluster", NONE],
  "VirtualNode.timeoutSeconds": ["access", NONE],

  "NamespaceOffloading.cluster": ["access", NONE],
  "NamespaceOffloading.namespace": ["made anew", NONE],
  "NamespaceOffloading.namespaceMappingStrategy": ["refused", NONE],
  "NamespaceOffloading.remoteNamespaceName": ["refused", NONE],
  "NamespaceOffloading.podOffloadingStrategy": ["its cluster", NONE],
  "NamespaceOffloading.clusterSelector": ["carried", NONE],
  "NamespaceOffloading.timeoutSeconds": ["access", NONE],

  "Fleet.clusters": ["access", NONE],
  "Fleet.peerings": ["carried", NONE],
  "Fleet.image": ["its cluster", NONE],
};
