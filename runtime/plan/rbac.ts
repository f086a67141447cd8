import type { PolicyRule } from "kubernetes-types/rbac/v1";
import { Name, RoleName } from "../api";
import { NetworkingRole } from "./networking/names";

/**
 * Who may do what: the rules of each role, one list a role. The installation makes the ClusterRoles, Roles and bindings of them.
 *
 * Source: control plane reference 3.3, 3.4 and 15.3, offloading reference 3.
 */

const read = ["get", "list", "watch"];
const write = ["create", "delete", "get", "list", "patch", "update", "watch"];
const writeAll = [...write, "deletecollection"];

const rule = (
  apiGroup: string,
  resources: string[],
  verbs: string[],
  resourceNames?: string[],
): PolicyRule => ({
  apiGroups: [apiGroup],
  resources,
  verbs,
  ...(resourceNames === undefined ? {} : { resourceNames }),
});

/** What a consumer's control plane may do in its tenant namespace (`liqo-remote-controlplane`). Peers of other make rely on it. */
export const remoteControlplaneRules: PolicyRule[] = [
  rule(
    "authentication.liqo.io",
    ["renews", "renews/status", "resourceslices", "resourceslices/status"],
    writeAll,
  ),
  rule("offloading.liqo.io", ["namespacemaps", "namespacemaps/status"], writeAll),
];

/** What a consumer's virtual nodes may do in each namespace offloaded to here (`liqo-virtual-kubelet-remote`). */
export const virtualKubeletRemoteRules: PolicyRule[] = [
  rule("", ["configmaps", "events", "persistentvolumeclaims", "secrets", "services"], write),
  rule("", ["pods"], read),
  rule("", ["pods/attach", "pods/exec"], ["create"]),
  rule("", ["pods/log"], ["get", "list"]),
  rule("", ["pods/portforward"], ["create", "get"]),
  rule("metrics.k8s.io", ["pods"], read),
  rule("networking.k8s.io", ["ingresses"], write),
  rule("offloading.liqo.io", ["shadowendpointslices", "shadowpods"], write),
];

/** What a consumer may do beyond its namespaces: read the metrics of its own pods (`liqo-virtual-kubelet-remote-clusterwide`). */
export const virtualKubeletRemoteClusterwideRules: PolicyRule[] = [
  rule("metrics.liqo.io", ["scrape/metrics"], read),
];

/** What the virtual kubelet may do in its own cluster (`liqo-virtual-kubelet-local`). */
export const virtualKubeletLocalRules: PolicyRule[] = [
  // What is reflected to providers, or shown with their events.
  rule("", ["configmaps", "persistentvolumeclaims", "secrets", "services"], read),
  rule("discovery.k8s.io", ["endpointslices"], read),
  rule("networking.k8s.io", ["ingresses"], read),
  rule("", ["events"], [...read, "create", "delete", "patch"]),
  // Virtual nodes and their pods. The label that marks a pod as taken over is written with its status.
  rule("", ["nodes"], [...read, "create", "patch"]),
  rule("", ["nodes/status", "pods/status"], ["patch"]),
  rule("", ["pods"], [...read, "delete"]),
  rule("", ["serviceaccounts/token"], ["create"]),
  rule("coordination.k8s.io", ["leases"], ["create", "delete", "get", "list", "update"]),
  // The peering that a virtual node is part of.
  rule("core.liqo.io", ["foreignclusters"], read),
  rule("ipam.liqo.io", ["ips"], read),
  rule("networking.liqo.io", ["configurations"], read),
  rule("offloading.liqo.io", ["namespacemaps", "virtualnodes"], read),
  // The kubelet endpoint: its certificate, who its clients are and what they may do.
  rule("certificates.k8s.io", ["certificatesigningrequests"], ["create", "get"]),
  rule("authentication.k8s.io", ["tokenreviews"], ["create"]),
  rule("authorization.k8s.io", ["subjectaccessreviews"], ["create"]),
];

/** Authentication in the controller manager: tenants, identities, slices, certificates, the roles that it hands out. */
export const authenticationRules: PolicyRule[] = [
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
  rule("rbac.authorization.k8s.io", ["clusterroles"], read),
  rule(
    "rbac.authorization.k8s.io",
    ["clusterroles"],
    ["bind"],
    [RoleName.remoteControlPlane, RoleName.virtualKubeletRemoteClusterWide],
  ),
  rule("rbac.authorization.k8s.io", ["clusterrolebindings", "rolebindings"], write),
];

/** Authentication against an EKS provider, which maps IAM users in a ConfigMap: a Role in the namespace `kube-system`. */
export const awsAuthRules: PolicyRule[] = [
  rule("", ["configmaps"], ["get", "patch", "update"], ["aws-auth"]),
];

/** The replicator in the controller manager. */
export const replicationRules: PolicyRule[] = [
  rule("", ["secrets"], [...read, "patch", "update"]),
  rule("core.liqo.io", ["foreignclusters"], read),
  rule("authentication.liqo.io", ["renews", "resourceslices"], [...read, "patch", "update"]),
  rule("authentication.liqo.io", ["renews/status", "resourceslices/status"], ["get", "patch", "update"]),
  rule("offloading.liqo.io", ["namespacemaps"], [...read, "patch", "update"]),
  rule("offloading.liqo.io", ["namespacemaps/status"], ["get", "patch", "update"]),
];

/** The ForeignCluster controller in the controller manager. */
export const foreignClusterRules: PolicyRule[] = [
  rule("", ["nodes", "secrets"], read),
  rule("apps", ["deployments"], read),
  rule("authentication.liqo.io", ["identities", "tenants"], read),
  rule("core.liqo.io", ["foreignclusters"], [...read, "create", "patch", "update"]),
  rule("core.liqo.io", ["foreignclusters/status"], ["get", "patch", "update"]),
  rule("networking.liqo.io", ["configurations", "connections", "gatewayclients", "gatewayservers"], read),
  rule("offloading.liqo.io", ["virtualnodes"], read),
];

/** Offloading in the controller manager: as a consumer virtual nodes and what goes to them, as a provider the namespaces and pods of consumers. */
export const offloadingRules: PolicyRule[] = [
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
  rule("rbac.authorization.k8s.io", ["rolebindings"], [...read, "create"]),
  rule("rbac.authorization.k8s.io", ["clusterroles"], ["bind"], [RoleName.virtualKubeletRemote]),
];

/** Addresses and networking in the controller manager, where the installation has networking. */
export const networkingRules: PolicyRule[] = [
  rule("", ["nodes", "pods"], read),
  // Gateways and what they need, in tenant namespaces, which have any name.
  rule("", ["services"], [...read, "create", "delete", "patch"]),
  rule("", ["secrets", "serviceaccounts"], [...read, "create", "patch"]),
  rule("apps", ["deployments"], [...read, "create", "patch"]),
  rule("rbac.authorization.k8s.io", ["clusterrolebindings"], [...read, "create", "delete", "patch"]),
  rule("rbac.authorization.k8s.io", ["clusterroles"], ["bind"], [NetworkingRole.gateway]),
  // The slices of addresses that are shown as Services, and those of the API server.
  rule("discovery.k8s.io", ["endpointslices"], [...read, "create", "delete", "patch"]),
  rule("ipam.liqo.io", ["ips", "networks"], [...read, "create", "delete", "patch"]),
  rule("ipam.liqo.io", ["ips/status", "networks/status"], ["patch"]),
  rule("networking.liqo.io", ["configurations"], [...read, "patch"]),
  rule(
    "networking.liqo.io",
    [
      "gatewayclients",
      "gatewayservers",
      "publickeies",
      "connections",
      "wggatewayclienttemplates",
      "wggatewayservertemplates",
    ],
    read,
  ),
  rule(
    "networking.liqo.io",
    [
      "firewallconfigurations",
      "genevetunnels",
      "internalfabrics",
      "internalnodes",
      "routeconfigurations",
      "wggatewayclients",
      "wggatewayservers",
    ],
    [...read, "create", "delete", "patch"],
  ),
  rule(
    "networking.liqo.io",
    [
      "configurations/status",
      "gatewayclients/status",
      "gatewayservers/status",
      "wggatewayclients/status",
      "wggatewayservers/status",
    ],
    ["patch"],
  ),
  // Owner references that block the owner's deletion need this on the owner.
  rule("", ["pods/finalizers"], ["update"]),
  rule("ipam.liqo.io", ["ips/finalizers"], ["update"]),
  rule(
    "networking.liqo.io",
    [
      "configurations/finalizers",
      "gatewayclients/finalizers",
      "gatewayservers/finalizers",
      "internalfabrics/finalizers",
      "internalnodes/finalizers",
      "wggatewayclients/finalizers",
      "wggatewayservers/finalizers",
    ],
    ["update"],
  ),
];

/** A gateway: it carries out what concerns its peer, says how far the tunnel is, and of several replicas one leads. */
export const gatewayRules: PolicyRule[] = [
  rule("coordination.k8s.io", ["leases"], ["create", "delete", "get", "update"]),
  rule("", ["events"], ["create", "patch"]),
  rule("events.k8s.io", ["events"], ["create", "patch"]),
  // The label of the replica that leads.
  rule("", ["pods"], [...read, "patch"]),
  rule("networking.liqo.io", ["connections"], write),
  rule(
    "networking.liqo.io",
    [
      "firewallconfigurations",
      "genevetunnels",
      "internalfabrics",
      "internalnodes",
      "publickeies",
      "routeconfigurations",
    ],
    read,
  ),
  rule(
    "networking.liqo.io",
    ["connections/status", "firewallconfigurations/status", "routeconfigurations/status"],
    ["get", "patch", "update"],
  ),
];

/** The agent on each node: it carries out what concerns the node. */
export const fabricRules: PolicyRule[] = [
  rule("", ["events"], ["create", "patch"]),
  rule("events.k8s.io", ["events"], ["create", "patch"]),
  rule("", ["pods"], read),
  // Whether it goes for good.
  rule("apps", ["daemonsets"], ["get"], [NetworkingRole.fabric]),
  rule("networking.liqo.io", ["configurations", "genevetunnels", "internalfabrics"], read),
  // Finalizers of another make's agents are taken off.
  rule(
    "networking.liqo.io",
    ["firewallconfigurations", "internalnodes", "routeconfigurations"],
    [...read, "patch", "update"],
  ),
  rule(
    "networking.liqo.io",
    ["firewallconfigurations/status", "internalnodes/status", "routeconfigurations/status"],
    ["get", "patch", "update"],
  ),
];

/** The admission webhooks: they read what they decide on, and write their authority into their own two registrations. */
export const webhookRules: PolicyRule[] = [
  rule(
    "admissionregistration.k8s.io",
    ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
    [...read, "patch"],
    ["liqo-webhook"],
  ),
  rule("", ["namespaces"], read),
  rule("", ["nodes"], ["get"]),
  rule("authentication.liqo.io", ["resourceslices", "tenants"], ["list"]),
  rule("offloading.liqo.io", ["namespaceoffloadings", "quotas", "shadowpods"], read),
  rule("networking.liqo.io", ["firewallconfigurations", "routeconfigurations"], ["list"]),
  rule("offloading.liqo.io", ["virtualnodes"], ["list"]),
  rule("offloading.liqo.io", ["vkoptionstemplates"], ["get"]),
];

/** In the Liqo namespace only: the webhook's own certificate, the leader's lease and its mark. */
export const webhookNamespaceRules: PolicyRule[] = [
  rule("", ["secrets"], ["create"]),
  rule("", ["secrets"], [...read, "update"], ["liqo-webhook-certs"]),
  rule("", ["pods"], ["patch"]),
  rule("coordination.k8s.io", ["leases"], ["create", "get", "update"]),
];

/** A process for each virtual node, in place of one for all, is made by the controller manager: with the rights of that one's role. */
export const virtualKubeletPerNodeRules: PolicyRule[] = [
  rule("", ["serviceaccounts"], [...read, "create", "patch"]),
  rule("apps", ["deployments"], [...read, "create", "patch"]),
  rule("offloading.liqo.io", ["vkoptionstemplates"], read),
  rule("rbac.authorization.k8s.io", ["clusterrolebindings"], [...read, "create", "delete", "patch"]),
  rule("rbac.authorization.k8s.io", ["clusterroles"], ["bind"], [RoleName.virtualKubeletLocal]),
];

/** The metric agent asks the kubelets of this cluster for their metrics, and knows whose pods are whose. */
export const metricAgentRules: PolicyRule[] = [
  rule("", ["namespaces", "nodes", "pods"], read),
  rule("", ["nodes/proxy"], ["get"]),
];

/** What the frame of the controller manager itself needs: events, and the lease of the leader. */
export const controllerManagerFrameRules: PolicyRule[] = [
  rule("", ["events"], ["create", "patch"]),
  rule("events.k8s.io", ["events"], ["create", "patch"]),
];

/** In the Liqo namespace only: the cluster ID, the trust root, the leader's lease. */
export const controllerManagerNamespaceRules: PolicyRule[] = [
  rule("", ["configmaps"], read, [Name.clusterIDConfigMap, Name.kubeRootCA]),
  rule("coordination.k8s.io", ["leases"], ["create", "get", "list", "patch", "update", "watch"]),
];

/** All controllers of the controller manager but for {@link networkingRules}. */
export const controllerManagerRules: PolicyRule[] = [
  ...controllerManagerFrameRules,
  ...authenticationRules,
  ...replicationRules,
  ...foreignClusterRules,
  ...offloadingRules,
];
