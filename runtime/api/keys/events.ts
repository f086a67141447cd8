/**
 * Reasons of events and conditions that users, scripts and peers read.
 *
 * Source: control-plane.md 6 and 12.2, offloading.md 1.4, 4.2 and 5, networking.md 4.2.
 */
export const EventReason = {
  // admission
  notRegistered: "NotRegistered",

  // nonce and signature
  missingLabels: "MissingLabels",
  missingClusterID: "MissingClusterID",
  missingRemoteClusterID: "MissingRemoteClusterID",
  wrongNamespace: "WrongNamespace",
  tenantNamespaceNotFound: "TenantNamespaceNotFound",
  nonceGenerationFailed: "NonceGenerationFailed",
  nonceGenerated: "NonceGenerated",
  nonceSigned: "NonceSigned",

  // tenant
  nonceNotFound: "NonceNotFound",
  signatureVerificationFailed: "SignatureVerificationFailed",
  invalidCSR: "InvalidCSR",
  tenantNamespaceCreationFailed: "TenantNamespaceCreationFailed",
  updateFailed: "UpdateFailed",
  reconciled: "Reconciled",
  certificateRenewed: "CertificateRenewed",
  certificateRenewalCheckFailed: "CertificateRenewalCheckFailed",
  authParamsFailed: "AuthParamsFailed",
  clusterRolesBindingFailed: "ClusterRolesBindingFailed",
  clusterRolesClusterWideBindingFailed: "ClusterRolesClusterWideBindingFailed",
  clusterRolesUnbindingFailed: "ClusterRolesUnbindingFailed",
  clusterRolesUnbindingSuccess: "ClusterRolesUnbindingSuccess",
  clusterRolesClusterWideUnbindingFailed: "ClusterRolesClusterWideUnbindingFailed",
  resourceSlicesDeleted: "ResourceSlicesDeleted",
  namespaceMapsDeleted: "NamespaceMapsDeleted",

  // identity and renewal
  kubeconfigEnsured: "KubeconfigEnsured",
  identityEnsured: "IdentityEnsured",
  identityDeleted: "IdentityDeleted",
  authParamsUpdateFailed: "AuthParamsUpdateFailed",
  renewStatusUpdateFailed: "RenewStatusUpdateFailed",
  processing: "Processing",

  // replication
  invalidControlPlaneSecret: "InvalidControlPlaneSecret",
  /** On a control-plane Secret whose deletion waits for what it is needed for; ours. */
  controlPlaneSecretHeld: "ControlPlaneSecretHeld",
  /** On a slice's kubeconfig Secret that virtual nodes still use; ours. */
  credentialsHeld: "CredentialsHeld",
  /** On what is to be copied to a peer; ours, as are the next two. */
  controlPlaneIdentityMissing: "ControlPlaneIdentityMissing",
  replicationForbidden: "ReplicationForbidden",
  replicationConflict: "ReplicationConflict",
  /** On a NamespaceMap whose change by hand its peer does not get to see; ours. */
  mappingWithheld: "MappingWithheld",
  /** On what is copied to a peer, which answers in the status what it may not; ours. */
  peerStatusRefused: "PeerStatusRefused",

  // addresses; ours
  /** On a Network that waits for those of the installation. */
  networksMissing: "NetworksMissing",
  /** On an IP whose network is not there or has no range. */
  networkNotReady: "NetworkNotReady",
  /** On an IP in a tenant namespace whose address is not its peer's to ask for. */
  addressRefused: "AddressRefused",
  /** On a pod whose provider reports an address that is none of its own. */
  addressWithheld: "AddressWithheld",

  // slice
  failedGetNamespace: "FailedGetNamespace",
  failedGetClusterID: "FailedGetClusterID",
  failedGetLocalClusterKeys: "FailedGetLocalClusterKeys",
  failedGenerateCSR: "FailedGenerateCSR",
  failedUpdateResourceSlice: "FailedUpdateResourceSlice",
  remoteCertificateFailed: "RemoteCertificateFailed",
  tenantNotFound: "TenantNotFound",
  /** With a space, as readers of events know it. */
  invalidResourceSlice: "Invalid ResourceSlice",
  /** On a VirtualNode that is to have a process of its own; ours. */
  virtualKubeletNotMade: "VirtualKubeletNotMade",
  /** On a NamespaceOffloading or a VirtualNode, where something keeps the virtual kubelet from its rights in the namespace; ours. */
  virtualKubeletRightsRefused: "VirtualKubeletRightsRefused",
  /** On the cluster's own keys; ours, as are the next three. */
  keysRotated: "KeysRotated",
  /** On a control-plane Identity: its provider is asked to take the cluster's new key. */
  keyRotationAsked: "KeyRotationAsked",
  /** On a Tenant. */
  keyReplaced: "KeyReplaced",
  /** On a Tenant whose key was changed otherwise, perhaps by another cluster of its ID. */
  keyChanged: "KeyChanged",
  /** On a slice whose class no controller answers; ours. */
  classNotServed: "ClassNotServed",
  virtualNodeCreated: "VirtualNodeCreated",
  virtualNodeRefused: "VirtualNodeRefused",

  // virtual node and reflection
  vkCreated: "VkCreated",
  vkDeleted: "VkDeleted",
  invalidClusterSelector: "Invalid",
  /** On a NamespaceOffloading whose remote name another namespace of this cluster has; ours. */
  remoteNamespaceTaken: "RemoteNamespaceTaken",
  successfulReflection: "SuccessfulReflection",
  failedReflection: "FailedReflection",
  failedDeletion: "FailedDeletion",
  reflectionDisabled: "ReflectionDisabled",
  successfulTokensReflection: "SuccessfulSATokensReflection",
  failedTokensReflection: "FailedSATokensReflection",
  provisioning: "Provisioning",
  provisioningFailed: "ProvisioningFailed",
  reschedulingRequired: "ReschedulingRequired",
} as const;

/** Reasons in conditions. */
export const ConditionReason = {
  sliceAuthenticationAccepted: "ResourceSliceAuthenticationAccepted",
  sliceAuthenticationDenied: "ResourceSliceAuthenticationDenied",
  sliceResourcesAccepted: "ResourceSliceResourcesAccepted",
  sliceResourcesDenied: "ResourceSliceResourcesDenied",
  defaultClassDisabled: "DefaultResourceSliceClassDisabled",

  apiServerReady: "APIServerReady",
  apiServerNotReady: "APIServerNotReady",
  networkConfigurationPresence: "NetworkConfigurationPresence",
  networkConfigurationMissing: "NetworkConfigurationMissing",
  gatewayPresence: "GatewayPresence",
  gatewayMissing: "GatewayMissing",
  gatewaysReady: "GatewaysReady",
  gatewaysNotReady: "GatewaysNotReady",
  gatewaysSomeNotReady: "GatewaysSomeNotReady",
  connectionEstablished: "ConnectionEstablished",
  connectionPending: "ConnectionPending",
  connectionError: "ConnectionError",
  connectionMissing: "ConnectionMissing",
  tenantReady: "TenantReady",
  tenantNotReady: "TenantNotReady",
  identityReady: "IdentityReady",
  identityNotReady: "IdentityNotReady",
  virtualNodesReady: "VirtualNodesReady",
  virtualNodesNotReady: "VirtualNodesNotReady",
  virtualNodesSomeNotReady: "VirtualNodesSomeNotReady",
  nodesReady: "NodesReady",
  nodesNotReady: "NodesNotReady",
  nodesSomeNotReady: "NodesSomeNotReady",

  clusterSelected: "ClusterSelected",
  clusterNotSelected: "ClusterNotSelected",
  namespaceCreated: "NamespaceCreated",
  namespaceCreationLoopBackOff: "CreationLoopBackOff",
  /** Another namespace of the same cluster has it; ours. */
  remoteNamespaceTaken: "RemoteNamespaceTaken",
  namespaceTerminating: "Terminating",
  namespaceCreating: "Creating",

  kubeletReady: "KubeletReady",
  kubeletNotReady: "KubeletNotReady",
  networkCIDRsConfigured: "NetworkCIDRsConfigured",
  /** Of a Configuration with a network whose place here holds addresses of this cluster's own; ours. */
  networkRangeConflict: "RangeConflict",
  waitingForNetworks: "WaitingForNetworks",

  csrApprovedByIdentityManager: "IdentityManagerApproval",
  csrApprovedByLiqo: "LiqoApproval",
} as const;
