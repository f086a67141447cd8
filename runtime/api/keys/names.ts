/**
 * Names that objects have by convention, and how names are made from names.
 *
 * Source: control-plane.md 1.4, 3 and 4.3, offloading.md 1.3, networking.md 2 and 5.
 */
export const Name = {
  /** Default namespace of an installation. */
  liqoNamespace: "liqo",
  clusterIDConfigMap: "liqo-clusterid-configmap",
  telemetryConfigMap: "telemetry-identity",
  /** Secret with the cluster's key pair, in the Liqo namespace. */
  clusterKeys: "authentication-keys",
  nonceSecret: "liqo-nonce",
  signedNonceSecret: "liqo-signed-nonce",
  /** Provider's cache of the control plane's certificate. */
  remoteCertificate: "liqo-remote-certificate",
  /** Prefix of the CertificateSigningRequests made for peers. */
  identityCSRPrefix: "liqo-identity-",
  apiServerIP: "api-server",
  apiServerProxyIP: "api-server-proxy",

  /** The only name a NamespaceOffloading may have. */
  namespaceOffloading: "offloading",
  /** The default VkOptionsTemplate, in the Liqo namespace. */
  vkOptionsTemplate: "virtual-kubelet-default",
  virtualKubeletContainer: "virtual-kubelet",
  runtimeClass: "liqo",
  storageClass: "liqo",
  storageProvisioner: "liqo.io/storage",
  storageNamespace: "liqo-storage",
  kubeRootCA: "kube-root-ca.crt",
  /** ConfigMap of Kubernetes in `kube-system`: by which authority API servers tell their clients. */
  clientAuthentication: "extension-apiserver-authentication",
  /** Second lease in a tenant namespace: who reflects what is bound to no node. */
  reflectionLease: "virtual-kubelet-leader-election",

  serverTemplate: "wireguard-server",
  clientTemplate: "wireguard-client",
  tunnelInterface: "liqo-tunnel",

  podCIDRNetwork: "pod-cidr",
  serviceCIDRNetwork: "service-cidr",
  externalCIDRNetwork: "external-cidr",
  internalCIDRNetwork: "internal-cidr",

  /** Organisation of every peer's control-plane certificate; webhooks recognise peers by it. */
  controlPlaneOrganization: "liqo.io",
} as const;

/** ClusterRoles and Roles that cross cluster boundaries. */
export const RoleName = {
  remoteControlPlane: "liqo-remote-controlplane",
  virtualKubeletLocal: "liqo-virtual-kubelet-local",
  /** What it may do more in each namespace that is offloaded. */
  virtualKubeletNamespace: "liqo-virtual-kubelet-namespace",
  /** And where its virtual nodes are, with the credentials for their providers. */
  virtualKubeletTenantNamespace: "liqo-virtual-kubelet-tenant-ns",
  virtualKubeletRemote: "liqo-virtual-kubelet-remote",
  virtualKubeletRemoteClusterWide: "liqo-virtual-kubelet-remote-clusterwide",
  peeringUserTenantNamespace: "liqo-peering-user-tenant-ns",
  peeringUserLiqoNamespace: "liqo-peering-user-liqo-ns",
} as const;

/** Key of an entry in a Secret or ConfigMap. */
export const DataKey = {
  clusterID: "CLUSTER_ID",
  telemetryClusterID: "CLUSTER_ID_TELEMETRY",
  privateKey: "privateKey",
  publicKey: "publicKey",
  /** Of the pairs before rotations, PEM one after the other. */
  previousPublicKeys: "previousPublicKeys",
  nonce: "nonce",
  signedNonce: "signedNonce",
  csr: "csr",
  certificate: "certificate",
  kubeconfig: "kubeconfig",
  awsAccessKeyID: "awsAccessKeyID",
  awsSecretAccessKey: "awsSecretAccessKey",
  awsRegion: "awsRegion",
  awsEksClusterID: "awsEksClusterID",
  awsIamUserArn: "awsIamUserArn",
} as const;

/** On every virtual node, so that only pods meant for it go there. */
export const VIRTUAL_NODE_TAINT = {
  key: "virtual-node.liqo.io/not-allowed",
  value: "true",
  effect: "NoExecute",
} as const;

/** Lets a pod go to virtual nodes. */
export const VIRTUAL_NODE_TOLERATION = {
  key: VIRTUAL_NODE_TAINT.key,
  operator: "Exists",
  effect: VIRTUAL_NODE_TAINT.effect,
} as const;

/** Name given to a tenant namespace that we create; an existing one may have any name. */
export const tenantNamespaceName = (peer: string): string => `liqo-tenant-${peer}`;
export const controlPlaneIdentityName = (provider: string): string => `controlplane-${provider}`;
export const sliceIdentityName = (slice: string): string => `resourceslice-${slice}`;
export const kubeconfigSecretName = (identity: string): string => `kubeconfig-${identity}`;
export const remoteCertificateName = (slice?: string): string =>
  slice === undefined ? Name.remoteCertificate : `${Name.remoteCertificate}-${slice}`;
export const tenantRoleBindingName = (clusterRole: string): string => `liqo-binding-${clusterRole}`;
export const tenantClusterRoleBindingName = (clusterRole: string, consumer: string): string =>
  `liqo-binding-${clusterRole}-${consumer}`;
export const peeringUserName = (consumer: string): string => `liqo-peer-user-${consumer}`;

export const virtualKubeletName = (virtualNode: string): string => `vk-${virtualNode}`;
/** Shortened to the 253 characters that a name may have. */
export const virtualNodeClusterRoleBindingName = (virtualNode: string): string =>
  `liqo-node-${virtualNode}`.slice(0, 253);
/** Name of the provider's namespace with the strategy `DefaultName`. */
export const defaultRemoteNamespaceName = (namespace: string, consumer: string): string =>
  `${namespace}-${consumer}`;

/** Deployment, Service, Secret and Connection of a gateway. */
export const gatewayObjectName = (gateway: string): string => `gw-${gateway}`;
/** A CIDR as a part of a name: `10.70.0.0/16` becomes `10-70-0-0-16`. */
export const cidrInName = (cidr: string): string => cidr.replace(/[./:]/g, "-");

/** Types of Secrets that Kubernetes knows. */
export const SecretType = {
  /** Kubernetes fills in a token of the account that the Secret names. */
  serviceAccountToken: "kubernetes.io/service-account-token",
} as const;

/**
 * Finalizers of the Liqo API. Objects made by upstream Liqo carry the same ones, so either can clean up after the other.
 *
 * Source: control-plane.md 1.3, offloading.md 1.3, networking.md 3.
 */
export const Finalizer = {
  tenant: "tenant.liqo.io/finalizer",
  /** On a control-plane kubeconfig secret, while its peer is replicated to. */
  replicator: "crdreplicator.liqo.io/operator",
  /** On the source of a replicated object, never on the copy. */
  replicatedResource: "crdreplicator.liqo.io/resource",
  /** On a ForeignCluster, while its API server is watched. */
  apiServerChecker: "api-server-checker.liqo.io/finalizer",

  namespaceOffloading: "namespaceoffloading-controller.liqo.io/finalizer",
  /** On the provider's NamespaceMap. */
  namespaceMap: "namespacemap-controller.liqo.io/finalizer",
  /** On a VirtualNode, and on the credentials of a slice that it uses. */
  virtualNode: "virtualnode-controller.liqo.io/finalizer",

  network: "network.ipam.liqo.io/finalizer",
  ip: "ip.ipam.liqo.io/finalizer",
  ipMapping: "ipmapping-nat-controller.liqo.io/finalizer",
  gatewayClusterRoleBinding: "networking.liqo.io/clusterrolebinding",
  internalFabric: "networking.liqo.io/internal-fabric-geneve-tunnel-finalizer",
  /** Set by older versions; only ever removed. */
  internalFabricLegacy: "internalfabric-controller.liqo.io/finalizer",
  internalNodeRoute: "internalnodes-route.liqo.io/finalizer",
  /** On configurations of category `fabric`; gateways use none. */
  firewallConfiguration: "firewallconfigurations-controller.liqo.io/finalizer",
  routeConfiguration: "routeconfiguration-controller.liqo.io/finalizer",
} as const;
