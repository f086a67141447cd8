import type { PolicyRule } from "kubernetes-types/rbac/v1";

import { Name, RoleName } from "../../api";
import { RBAC, read, rule, write } from "./manifests";

/** What the frame of the controller manager itself needs: events, and the lease of the leader. */
const controllerManagerFrameRules: PolicyRule[] = [
  rule("", ["events"], ["create", "patch"]),
  rule("events.k8s.io", ["events"], ["create", "patch"]),
];

/** Authentication in the controller manager: tenants, identities, slices, certificates, the roles that it hands out. */
const authenticationRules: PolicyRule[] = [
  // Tenant namespaces have any name, so that no Role in a namespace can cover the secrets in them.
  rule("", ["secrets"], [...read, "create", "delete", "patch", "update"]),
  rule("", ["namespaces"], read),
  rule("", ["nodes"], read),
  rule("storage.k8s.io", ["storageclasses"], read),
  rule("authentication.liqo.io", ["identities", "renews"], [...read, "create", "delete", "patch", "update"]),
  rule("authentication.liqo.io", ["resourceslices"], [...read, "delete", "patch", "update"]),
  rule("authentication.liqo.io", ["tenants"], [...read, "patch", "update"]),
  rule(
    "authentication.liqo.io",
    ["identities/status", "renews/status", "resourceslices/status", "tenants/status"],
    ["get", "patch", "update"],
  ),
  // Owner references that block the owner's deletion need this on the owner.
  rule(
    "authentication.liqo.io",
    ["identities/finalizers", "resourceslices/finalizers", "tenants/finalizers"],
    ["update"],
  ),
  rule("offloading.liqo.io", ["quotas", "virtualnodes"], [...read, "create", "patch", "update"]),
  rule("offloading.liqo.io", ["virtualnodes"], ["delete"]),
  rule("offloading.liqo.io", ["namespacemaps"], [...read, "delete"]),
  rule("certificates.k8s.io", ["certificatesigningrequests"], [...read, "create"]),
  rule("certificates.k8s.io", ["certificatesigningrequests/approval"], ["patch", "update"]),
  rule(
    "certificates.k8s.io",
    ["signers"],
    ["approve"],
    ["kubernetes.io/kube-apiserver-client", "kubernetes.io/kubelet-serving"],
  ),
  rule(RBAC, ["clusterroles"], read),
  rule(
    RBAC,
    ["clusterroles"],
    ["bind"],
    [RoleName.remoteControlPlane, RoleName.virtualKubeletRemoteClusterWide],
  ),
  rule(RBAC, ["clusterrolebindings", "rolebindings"], write),
];

/** Authentication against an EKS provider, which maps IAM users in a ConfigMap: a Role in the namespace `kube-system`. */
export const awsAuthRules: PolicyRule[] = [
  rule("", ["configmaps"], ["get", "patch", "update"], ["aws-auth"]),
];

/** The replicator in the controller manager. */
const replicationRules: PolicyRule[] = [
  rule("", ["secrets"], [...read, "patch", "update"]),
  rule("", ["namespaces"], ["get"]),
  rule("core.liqo.io", ["foreignclusters"], read),
  rule("authentication.liqo.io", ["identities"], read),
  rule("authentication.liqo.io", ["renews", "resourceslices"], [...read, "patch", "update"]),
  rule("authentication.liqo.io", ["renews/status", "resourceslices/status"], ["get", "patch", "update"]),
  rule("offloading.liqo.io", ["namespacemaps"], [...read, "patch", "update"]),
  rule("offloading.liqo.io", ["namespacemaps/status"], ["get", "patch", "update"]),
  rule("offloading.liqo.io", ["namespaceoffloadings"], ["get", "list"]),
];

/** The ForeignCluster controller in the controller manager. */
const foreignClusterRules: PolicyRule[] = [
  rule("", ["nodes", "secrets"], read),
  rule("apps", ["deployments"], read),
  rule("authentication.liqo.io", ["identities", "tenants"], read),
  rule("core.liqo.io", ["foreignclusters"], [...read, "create", "patch", "update"]),
  rule("core.liqo.io", ["foreignclusters/status"], ["get", "patch", "update"]),
  rule("networking.liqo.io", ["configurations", "connections", "gatewayclients", "gatewayservers"], read),
  rule("offloading.liqo.io", ["virtualnodes"], read),
];

/** Offloading in the controller manager: as a consumer virtual nodes and what goes to them, as a provider the namespaces and pods of consumers. */
const offloadingRules: PolicyRule[] = [
  rule("core.liqo.io", ["foreignclusters"], read),
  // Tenant namespaces have any name; only labels and deletion marks of control-plane secrets are kept.
  rule("", ["secrets"], read),
  rule("", ["namespaces"], [...read, "create", "delete", "patch"]),
  // Virtual nodes are cordoned, drained and removed; pods of consumers are made, labelled and, on lost nodes, removed.
  rule("", ["nodes"], [...read, "delete", "patch"]),
  rule("", ["pods"], [...read, "create", "delete", "patch"]),
  rule("", ["pods/eviction"], ["create"]),
  rule("coordination.k8s.io", ["leases"], ["get"]),
  rule("offloading.liqo.io", ["namespacemaps"], [...read, "create", "delete", "patch"]),
  rule("offloading.liqo.io", ["namespaceoffloadings", "virtualnodes"], [...read, "patch"]),
  rule("offloading.liqo.io", ["shadowendpointslices", "shadowpods"], read),
  rule("discovery.k8s.io", ["endpointslices"], [...read, "create", "delete", "patch"]),
  rule("networking.liqo.io", ["configurations"], read),
  rule(
    "offloading.liqo.io",
    ["namespacemaps/status", "namespaceoffloadings/status", "shadowpods/status", "virtualnodes/status"],
    ["patch"],
  ),
  // Owner references that block the owner's deletion need this on the owner.
  rule("offloading.liqo.io", ["shadowendpointslices/finalizers", "shadowpods/finalizers"], ["update"]),
  rule(RBAC, ["rolebindings"], [...read, "create", "delete", "patch"]),
  rule(
    RBAC,
    ["clusterroles"],
    ["bind"],
    [RoleName.virtualKubeletNamespace, RoleName.virtualKubeletRemote, RoleName.virtualKubeletTenantNamespace],
  ),
];

/** All controllers of the controller manager but for those of the networking. */
export const controllerManagerRules: PolicyRule[] = [
  ...controllerManagerFrameRules,
  ...authenticationRules,
  ...replicationRules,
  ...foreignClusterRules,
  ...offloadingRules,
];

/** In the Liqo namespace only: the cluster ID, the trust root, the leader's lease. */
export const controllerManagerNamespaceRules: PolicyRule[] = [
  rule("", ["configmaps"], read, [Name.clusterIDConfigMap, Name.kubeRootCA]),
  rule("coordination.k8s.io", ["leases"], ["create", "get", "list", "patch", "update", "watch"]),
];
