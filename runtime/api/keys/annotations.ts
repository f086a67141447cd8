/**
 * Annotation keys of the Liqo API, in one place.
 *
 * Source: control-plane.md 1.2, offloading.md 1.2, networking.md 3.
 */
export const Annotation = {
  /** On a control-plane kubeconfig secret: namespace to use in the provider. */
  remoteTenantNamespace: "liqo.io/remote-tenant-namespace",
  /** On a ResourceSlice: make a VirtualNode of it. On unless absent, empty or `false` in any case. */
  createVirtualNode: "liqo.io/create-virtual-node",
  /** On the provider's copy of a ResourceSlice: this slice is cordoned. */
  cordon: "liqo.io/cordon",
  /** On the provider's copy of a ResourceSlice: cordoned because its Tenant is. */
  cordonTenant: "liqo.io/cordon-tenant",
  /** `true` on the Secret of a cluster's own keys: make others; the controllers hand them to the providers, and remove the annotation. */
  rotateKeys: "liqo.io/rotate-keys",
  /**
   * On a Tenant of an earlier version: fingerprint of the key that came by a rotation. Whoever writes Tenants can write it, so it counts for the
   * key only that a certificate was issued for; the Tenant's status has taken its place.
   */
  rotatedPublicKey: "liqo.io/rotated-public-key",
  /** `true` on a ForeignCluster: the operator declares the peer dead. */
  permanentlyUnreachable: "liqo.io/foreign-cluster-permanently-unreachable",
  /** `true` on the controller manager's Deployment while the installation is removed. */
  uninstalling: "liqo.io/uninstalling",
  /** On Networks and IPs made at installation. On unless absent or `false` in any case. */
  preinstalled: "liqo.io/preinstalled",
  /** On the webhook's secret: Service whose names the certificate carries. */
  webhookServiceName: "liqo.io/webhook-service-name",

  /** `geneve` or `vxlan` on an InternalNode: what the node's kernel has for the overlay. Ours, upstream has geneve alone. */
  overlay: "networking.liqo.io/overlay",
  /** On an InternalNode: the node's default gateways, separated by commas, which no network of a peer may hold. Ours. */
  defaultGateways: "networking.liqo.io/default-gateways",
  /** On an InternalFabric: the peer's networks as its packets have them, separated by commas. A gateway drops what comes from anywhere else. Ours. */
  peerNetworks: "networking.liqo.io/peer-networks",
  /** On an InternalFabric: the networks of this cluster's pods, separated by commas, to which packets of the peer may go. Ours. */
  podNetworks: "networking.liqo.io/pod-networks",

  /** On an object of a kind reflected by default: do not reflect it. */
  skipReflection: "liqo.io/skip-reflection",
  /** On an object of a kind reflected on demand: reflect it. */
  allowReflection: "liqo.io/allow-reflection",
  /** `true` on a Service: the remote one takes the same node ports. */
  forceRemoteNodePort: "liqo.io/force-remote-node-port",
  /** `true` on a Service: peers reach each other without passing through the consumer. */
  useDirectConnections: "liqo.io/use-direct-connections",
  /** JSON on a ShadowEndpointSlice: addresses by cluster. */
  directConnectionsData: "liqo.io/direct-connections-data",
  /** `soft`, `hard` or `propagate` on a Pod. */
  antiAffinityPreset: "liqo.io/anti-affinity-preset",
  /** Label keys, separated by commas, that anti-affinity looks at. */
  antiAffinityLabels: "liqo.io/anti-affinity-labels",
  /** `remote` or `disabled` on a Pod: which API server it talks to. */
  apiServerSupport: "liqo.io/api-server-support",
  remoteServiceAccountName: "liqo.io/remote-service-account-name",
  remoteRuntimeClassName: "liqo.io/remote-runtime-class-name",
  /** Access modes of the remote claim, separated by commas. */
  remoteAccessModes: "liqo.io/remote-access-modes",
  remoteStorageClass: "liqo.io/remote-storage-class",
  /** `<namespace>/<name>` of the NamespaceMap that a provider's namespace or RoleBinding belongs to. */
  managedByNamespaceMap: "liqo.io/managed-by-namespace-map",
  /**
   * On a tenant namespace: Pod Security Standard for the namespaces that its consumer gets here. On these: the one that we chose, as long as an
   * administrator chose no other. Ours.
   */
  podSecurity: "liqo.io/pod-security",
  /** On a tenant namespace: how many namespaces its consumer gets here. Ours. */
  namespaceLimit: "liqo.io/namespace-limit",
  /** `true` on a tenant namespace that a stack made: the last stack that holds it removes it. Ours. */
  madeByStack: "liqo.io/made-by-stack",
  /** On a provider's namespace: its name at the consumer. */
  originalName: "liqo.io/original-name",
  serviceAccountForPodName: "offloading.liqo.io/service-account-for-pod-name",
  serviceAccountForPodUID: "offloading.liqo.io/service-account-for-pod-uid",
  /** RFC 3339 time of the first token to expire in a token secret. */
  serviceAccountExpiration: "offloading.liqo.io/service-account-expiration",
  /** JSON on a reflected object: UID of its source, and the label and annotation keys that came from it. Ours; upstream ignores it. */
  reflectionSource: "offloading.liqo.io/source",
  /** Hash of the cluster's ID on the pod templates of the control plane, which reads the ID when it starts. Ours. */
  clusterIDHash: "liqo.io/cluster-id-hash",
  /** Hash of the offloading patch on a virtual kubelet's pod template. */
  offloadingPatchHash: "liqo.io/offloading-patch-hash",
  lastAppliedNodeStatus: "virtual-kubelet.io/last-applied-node-status",
  lastAppliedObjectMeta: "virtual-kubelet.io/last-applied-object-meta",
  /** Reserved upstream; never reflected by meaning. */
  templateLabels: "liqo.io/template-labels",
  templateAnnotations: "liqo.io/template-annotations",
} as const;

/** Keys that Kubernetes and its tools define and that the API relies on. */
export const WellKnownAnnotation = {
  defaultStorageClass: "storageclass.kubernetes.io/is-default-class",
  selectedNode: "volume.kubernetes.io/selected-node",
  storageProvisioner: "volume.kubernetes.io/storage-provisioner",
  storageProvisionerBeta: "volume.beta.kubernetes.io/storage-provisioner",
  storageClassBeta: "volume.beta.kubernetes.io/storage-class",
  bindCompleted: "pv.kubernetes.io/bind-completed",
  boundByController: "pv.kubernetes.io/bound-by-controller",
  provisionedBy: "pv.kubernetes.io/provisioned-by",
  ingressClass: "kubernetes.io/ingress.class",
  serviceAccountName: "kubernetes.io/service-account.name",
  lastAppliedConfiguration: "kubectl.kubernetes.io/last-applied-configuration",
} as const;

/** Whether an on/off annotation or label is on: present and not `false` in any case. */
export function isOn(value: string | undefined): boolean {
  return value !== undefined && value.toLowerCase() !== "false";
}

/** Followed by a stack's mark: on a tenant namespace, one of those that hold it. The value says which. Ours. */
export const HOLDER_PREFIX = "stacks.liqo.io/";
