/**
 * Label keys of the Liqo API, in one place. A peer that runs upstream Liqo selects on them: they are part of the wire contract.
 *
 * Source: control-plane.md 1.1, offloading.md 1.1, networking.md 3.
 */
export const Label = {
  /** Which peer an object concerns; the universal look-up key. */
  remoteClusterID: "liqo.io/remote-cluster-id",
  /** `true` on a tenant namespace. */
  tenantNamespace: "liqo.io/tenant-namespace",

  /** `true` on a source that is to be replicated, `false` on its copy. */
  replication: "liqo.io/replication",
  /** Cluster that a replicated object goes to; kept on the copy. */
  replicationDestination: "liqo.io/remoteID",
  /** On a copy: cluster that it came from. */
  replicationOrigin: "liqo.io/originID",
  /** `true` on a copy. */
  replicated: "liqo.io/replicated",
  /** Removed from copies; set by nobody today. */
  replicationOwnership: "liqo.io/ownership",

  /** `ControlPlane` or `ResourceSlice`, on a kubeconfig secret. */
  identityType: "liqo.io/identity-type",
  /** Slice that an Identity or a VirtualNode belongs to. */
  resourceSliceName: "liqo.io/resourceslice-name",
  /** `true` on the provider's nonce secret. */
  nonce: "liqo.io/nonce",
  /** `true` on the consumer's signed nonce secret. */
  signedNonce: "liqo.io/signed-nonce",
  /** User that created a ShadowPod, for quota accounting. */
  creatorUser: "liqo.io/creator-user",
  /** `liqo-peer-user-<consumer>`, on what belongs to a peering user. */
  peeringUserName: "liqo.io/peering-user-name",
  /** `true` on a CertificateSigningRequest that the provider made for a peer. */
  remoteTenantCSR: "liqo.io/remote-tenant-csr",

  /** `true` on webhook configurations and their certificate secret: the CA bundle is injected there. */
  webhook: "liqo.io/webhook",
  /** `true` on an object that webhooks leave alone. */
  webhookSkip: "liqo.io/webhook-skip",

  /** `virtual-node` on a virtual node. */
  nodeType: "liqo.io/type",
  /** `virtual-kubelet` on a virtual node: keeps the cluster autoscaler from parsing its provider ID. */
  nodeTypeForAutoscaler: "type",
  /** Cloud or distribution, among the cluster labels. */
  provider: "liqo.io/provider",
  /** `true` on everything that controllers create (default of the global labels). */
  managed: "liqo.io/managed",
  /** `shadowpod` or `shadowendpointslice`: the provider's controller that created the object. */
  managedBy: "liqo.io/managed-by",
  /** `true` on the namespace of real volumes. */
  storageProvisioner: "liqo.io/storage-provisioner",

  /** `true` on a namespace whose pods the pod webhook looks at. */
  schedulingEnabled: "liqo.io/scheduling-enabled",
  /** VirtualNode that a virtual kubelet's Deployment or Pod serves. */
  virtualNode: "liqo.io/virtual-node",
  /** `virtual-kubelet` on its Deployment and Pods. */
  offloadingComponent: "offloading.liqo.io/component",
  /** `true` on a consumer's pod that a virtual kubelet took over. */
  shadowPod: "liqo.io/shadowPod",
  /** `true` on a consumer's pod whose virtual node is not Ready. */
  remoteUnavailable: "liqo.io/remote-unavailable",
  /** Consumer, on every reflected object. */
  reflectionOrigin: "offloading.liqo.io/origin",
  /** Provider, on every reflected object. */
  reflectionDestination: "offloading.liqo.io/destination",
  /** Virtual node that a remote object is bound to. */
  reflectionNodeName: "offloading.liqo.io/nodename",
  /** Service account of a token secret. */
  serviceAccountName: "offloading.liqo.io/service-account-name",
  /** Service account of a reflected secret, for API servers without the token API. */
  legacyServiceAccountName: "kubernetes.io/service-account.name",
  /** Pod for which an IP was created. */
  podName: "offloading.liqo.io/pod-name",
  podNamespace: "offloading.liqo.io/pod-namespace",

  /** `true` or `false` on a virtual node: whether it has a storage class. */
  storageAvailable: "storage.liqo.io/available",
  /** Claim that a real volume stands behind. */
  virtualClaimNamespace: "storage.liqo.io/virtual-pvc-namespace",
  virtualClaimName: "storage.liqo.io/virtual-pvc-name",

  /** `pod` or `external`, on the Networks of a Configuration. */
  cidrType: "configuration.liqo.io/cidr-type",
  /** `pod-cidr`, `service-cidr`, `external-cidr`, `internal-cidr` or `reserved`, on the Networks of an installation. */
  networkType: "ipam.liqo.io/network-type",
  /** Present and not `false`: the Network keeps its CIDR. */
  networkNotRemapped: "ipam.liqo.io/network-not-remapped",
  /** `true`: the Network may overlap other shared ones. */
  networkShared: "ipam.liqo.io/network-shared",
  /** `api-server` or `api-server-proxy`, on an IP. */
  ipType: "ipam.liqo.io/ip-type",
  /** EndpointSlice that an IP was made from. */
  ipEndpointSlice: "ipam.liqo.io/endpointslice",
  /** Network that an IP was taken from. */
  ipNetworkNamespace: "ipam.liqo.io/network-namespace",
  ipNetworkName: "ipam.liqo.io/network-name",

  /** `true` on an IP that gateways do not map. */
  hostUnreachable: "networking.liqo.io/host-unreachable",
  /** `true` on WireGuard key secrets and PublicKeys. */
  gatewayResource: "networking.liqo.io/gateway-resource",
  gatewayName: "networking.liqo.io/gateway-name",
  gatewayNamespace: "networking.liqo.io/gateway-namespace",
  /** `gateway` on gateway pods. */
  networkingComponent: "networking.liqo.io/component",
  /** `true` on the active pod of a gateway. */
  gatewayActive: "networking.liqo.io/active",
  /** `true` on the CRD objects of gateway template kinds. */
  gatewayTemplate: "networking.liqo.io/gatewaytemplate",
  internalFabricName: "networking.liqo.io/internal-fabric-name",
  internalNodeName: "networking.liqo.io/internal-node-name",
  firewallCategory: "networking.liqo.io/firewall-category",
  firewallSubcategory: "networking.liqo.io/firewall-subcategory",
  firewallUnique: "networking.liqo.io/firewall-unique",
  routeCategory: "networking.liqo.io/route-category",
  routeSubcategory: "networking.liqo.io/route-subcategory",
  routeUnique: "networking.liqo.io/route-unique",
  /** `true` on FirewallConfigurations that keep gateway traffic from being masqueraded. */
  gatewayMasqueradeBypass: "networking.liqo.io/gateway-masquerade-bypass",

  /** `true` on the pod that leads; Services of replicated components select on it. */
  leader: "leaderelection.liqo.io/leader",
} as const;

/** Labels of control-plane nodes, of which the first with any node counts. */
export const controlPlaneNodeLabels = [
  "node-role.kubernetes.io/control-plane",
  "node-role.kubernetes.io/master",
  "node-role.kubernetes.io/controlplane",
] as const;

/** Keys that Kubernetes and its tools define and that the API relies on. */
export const WellKnownLabel = {
  appName: "app.kubernetes.io/name",
  appInstance: "app.kubernetes.io/instance",
  appComponent: "app.kubernetes.io/component",
  appPartOf: "app.kubernetes.io/part-of",
  appVersion: "app.kubernetes.io/version",
  appManagedBy: "app.kubernetes.io/managed-by",
  helmChart: "helm.sh/chart",
  serviceName: "kubernetes.io/service-name",
  endpointSliceManagedBy: "endpointslice.kubernetes.io/managed-by",
  hostname: "kubernetes.io/hostname",
  role: "kubernetes.io/role",
  os: "kubernetes.io/os",
  arch: "kubernetes.io/arch",
  excludeFromLoadBalancers: "node.kubernetes.io/exclude-from-external-load-balancers",
  excludeFromLoadBalancersAlpha: "alpha.service-controller.kubernetes.io/exclude-balancer",
  controlPlaneNode: "node-role.kubernetes.io/control-plane",
  podSecurityEnforce: "pod-security.kubernetes.io/enforce",
  podSecurityAudit: "pod-security.kubernetes.io/audit",
  podSecurityWarn: "pod-security.kubernetes.io/warn",
} as const;

/** Values that have one meaning wherever they stand. */
export const LabelValue = {
  true: "true",
  false: "false",
  virtualNode: "virtual-node",
  virtualKubelet: "virtual-kubelet",
  gateway: "gateway",
  managedByLiqo: "liqo",
  managedByShadowPod: "shadowpod",
  managedByShadowEndpointSlice: "shadowendpointslice",
  /** Keeps the provider's own EndpointSlice controller away from reflected slices. */
  endpointSliceReflection: "endpointslice.reflection.liqo.io",
  apiServer: "api-server",
  apiServerProxy: "api-server-proxy",
  clusterIDConfigMap: "clusterid-configmap",
  telemetryConfigMap: "clusterid-telemetry-configmap",
  remoteControlPlane: "remote-controlplane",
} as const;

/**
 * Labels of Nodes that are not a provider's to give: those by which a cluster's administrator sets nodes apart, which kubelets may not give themselves
 * either, and those that say what a virtual node is and whose.
 */
export function isReservedNodeLabel(key: string): boolean {
  if (key === Label.nodeType || key === Label.remoteClusterID) return true;
  const [prefix = ""] = key.split("/");
  return ["node-restriction.kubernetes.io", "node-role.kubernetes.io"].some(
    (reserved) => prefix === reserved || prefix.endsWith(`.${reserved}`),
  );
}
