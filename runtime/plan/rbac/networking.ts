import type { PolicyRule } from "kubernetes-types/rbac/v1";

import { NetworkingRole } from "../networking/names";
import { read, rule, write } from "./rule";

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
