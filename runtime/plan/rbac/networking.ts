import type { PolicyRule } from "kubernetes-types/rbac/v1";

import { RBAC, read, rule, write } from "./manifests";

/** Roles of the networking (networking reference 2, 9, 11). */
export const NetworkingRole = {
  /** Of the account that each gateway runs as, in the gateway's own namespace; the controller manager binds it. */
  gateway: "liqo-gateway",
  /** What that account reads in the whole cluster. */
  gatewayClusterWide: "liqo-gateway-clusterwide",
  /** What that account reports in the Liqo namespace. */
  gatewayLiqoNamespace: "liqo-gateway-liqo-ns",
  /** Of the agent on each node. */
  fabric: "liqo-fabric",
} as const;

/** Addresses and networking in the controller manager, where the installation has networking. */
export const networkingRules: PolicyRule[] = [
  rule("", ["nodes", "pods"], read),
  // Gateways and what they need, in tenant namespaces, which have any name.
  rule("", ["services"], [...read, "create", "delete", "patch"]),
  rule("", ["secrets", "serviceaccounts"], [...read, "create", "patch"]),
  rule("apps", ["deployments"], [...read, "create", "patch"]),
  rule(RBAC, ["clusterrolebindings", "rolebindings"], [...read, "create", "delete", "patch"]),
  rule(
    RBAC,
    ["clusterroles"],
    ["bind"],
    [NetworkingRole.gateway, NetworkingRole.gatewayClusterWide, NetworkingRole.gatewayLiqoNamespace],
  ),
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
      "connections/status",
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

/** What a gateway says of the configurations that it carries out. */
const configurationReports: PolicyRule[] = [
  rule("", ["events"], ["create", "patch"]),
  rule("events.k8s.io", ["events"], ["create", "patch"]),
  rule(
    "networking.liqo.io",
    ["firewallconfigurations/status", "routeconfigurations/status"],
    ["get", "patch", "update"],
  ),
];

/** A gateway in its own namespace: it carries out what concerns its peer, says how far the tunnel is, and of several replicas one leads. */
export const gatewayRules: PolicyRule[] = [
  ...configurationReports,
  rule("coordination.k8s.io", ["leases"], ["create", "delete", "get", "update"]),
  rule("", ["pods"], read),
  // The label of the replica that leads. A write of the status changes labels and no spec, and thus neither image nor command of a privileged pod.
  rule("", ["pods/status"], ["patch"]),
  rule("networking.liqo.io", ["connections"], write),
  rule("networking.liqo.io", ["connections/status"], ["get", "patch", "update"]),
  rule("networking.liqo.io", ["genevetunnels", "internalfabrics", "publickeies"], read),
];

/**
 * A gateway in the whole cluster: it reads what it is to carry out. Of the firewall and the routes a part is in the Liqo namespace, and a part in
 * those of the addresses that peers reach, which are any; InternalNodes are in none.
 */
export const gatewayClusterWideRules: PolicyRule[] = [
  rule("networking.liqo.io", ["firewallconfigurations", "internalnodes", "routeconfigurations"], read),
];

/** A gateway in the Liqo namespace, where the configurations are that all gateways carry out. */
export const gatewayLiqoNamespaceRules: PolicyRule[] = configurationReports;

/** The agent on each node: it carries out what concerns the node. */
export const fabricRules: PolicyRule[] = [
  rule("", ["events"], ["create", "patch"]),
  rule("events.k8s.io", ["events"], ["create", "patch"]),
  rule("", ["pods"], read),
  // Whether it goes for good.
  rule("apps", ["daemonsets"], ["get"], [NetworkingRole.fabric]),
  rule("networking.liqo.io", ["configurations", "genevetunnels", "internalfabrics"], read),
  // Where the API server is: no route to a peer may lead there.
  rule("discovery.k8s.io", ["endpointslices"], read, ["kubernetes"]),
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
