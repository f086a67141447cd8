import {
  cidrInName,
  type Configuration,
  type FirewallConfiguration,
  type InternalNode,
  Name,
  type RouteConfiguration,
} from "../../api";
import { formatCidr, parseCidr } from "../../ipam/cidr";
import { controlledBy } from "../../kube";
import { cidrMappings, isRemapped, unknownSource } from "../address-mapping";
import type { NatRule } from "../firewall/firewall-table";
import {
  arrivesOn,
  destination,
  firewallConfiguration,
  type Generated,
  leavesOn,
  OVERLAY,
  Priority,
  routeConfiguration,
  source,
} from "../generated";
import { peerOf } from "../labels";
import { otherEnd, tunnelAddress, type TunnelEnd } from "../tunnel";

/**
 * In the gateways to a peer: the networks of the peer that have another place here are written back on the way out, and to
 * their place here on the way in. Tables without rules where nothing was remapped (networking reference 14.1).
 *
 * What comes from the nodes and goes to them is told by its interface, not by the name of the pod's own one, which may differ from pod to pod.
 */
export function remapFirewalls(configuration: Configuration): Generated<FirewallConfiguration>[] {
  return (["pod", "external"] as const).map((type) => {
    const mappings = cidrMappings(configuration, type).filter(isRemapped);
    const { name, namespace = "" } = configuration.metadata;
    return firewallConfiguration(
      {
        name: `${name}-remap-${type}cidr`,
        namespace,
        audience: { category: "gateway", unique: peerOf(configuration) },
        owner: controlledBy(configuration),
      },
      {
        name: `remap-${type}cidr`,
        chains: [
          {
            name: "outgoing",
            type: "nat",
            policy: "accept",
            hook: "prerouting",
            priority: Priority.dstNat,
            rules: {
              natRules: mappings.map(({ original, remapped }) => ({
                name: `outgoing-${cidrInName(formatCidr(remapped))}`,
                match: [destination(formatCidr(remapped)), arrivesOn(OVERLAY)],
                natType: "dnat",
                to: formatCidr(original),
              })),
            },
          },
          {
            name: "incoming",
            type: "nat",
            policy: "accept",
            hook: "postrouting",
            priority: Priority.srcNat,
            rules: {
              natRules: mappings.map(({ original, remapped }) => ({
                name: `incoming-${cidrInName(formatCidr(original))}`,
                match: [leavesOn(OVERLAY), source(formatCidr(original)), arrivesOn(Name.tunnelInterface)],
                natType: "snat",
                to: formatCidr(remapped),
              })),
            },
          },
        ],
      },
    );
  });
}

/**
 * On every node: what pods send to a peer keeps its address, before the cluster's own masquerading would change it; what anybody else sends gets the one
 * address that stands for unknown senders (networking reference 14.2). Undefined while the Configuration says nothing of this cluster's
 * networks.
 *
 * @param fullMasquerade pods, too, get that address
 */
export function masqueradeBypass(
  configuration: Configuration,
  fullMasquerade: boolean,
): Generated<FirewallConfiguration> | undefined {
  const { name, namespace = "" } = configuration.metadata;
  const { pod = [], external = [] } = configuration.spec.local?.cidr ?? {};
  const [localExternal] = external;
  if (localExternal === undefined || pod.length === 0) return undefined;
  const unknown = unknownSource(parseCidr(localExternal));
  const local = pod.map((cidr) => formatCidr(parseCidr(cidr)));
  const remote = cidrMappings(configuration, "pod").map(({ remapped }) => formatCidr(remapped));
  const [firstExternal] = cidrMappings(configuration, "external");
  const notFromPods = fullMasquerade ? [] : local.map((cidr) => source(cidr, "neq"));

  const keeps = (from: string, to: string, ruleName: string): NatRule => ({
    name: ruleName,
    match: [destination(to), source(from)],
    natType: "snat",
    to: from,
  });
  const becomesUnknown = (to: string, ruleName: string): NatRule => ({
    name: ruleName,
    match: [destination(to), ...notFromPods],
    natType: "snat",
    to: unknown,
  });
  const pods = fullMasquerade ? [] : local;
  const towardsPods = [
    ...pods.flatMap((from) =>
      remote.map((to) => keeps(from, to, `podcidr-${name}-${cidrInName(from)}-${cidrInName(to)}`)),
    ),
    ...remote.map((to) => becomesUnknown(to, `service-nodeport-${name}-${cidrInName(to)}`)),
  ];
  const externalCidr = firstExternal && formatCidr(firstExternal.remapped);
  const towardsOthers =
    externalCidr === undefined
      ? []
      : [
          ...pods.map((from) => keeps(from, externalCidr, `podcidr-${name}-ext-${cidrInName(from)}`)),
          becomesUnknown(externalCidr, `service-nodeport-${name}-ext`),
        ];
  return firewallConfiguration(
    {
      name: `${name}-masquerade-bypass`,
      namespace,
      audience: { category: "fabric", subcategory: "all-nodes" },
      owner: controlledBy(configuration),
    },
    {
      name: `${name}-masquerade-bypass`,
      chains: [
        {
          name: "pre-postrouting",
          type: "nat",
          policy: "accept",
          hook: "postrouting",
          priority: Priority.beforeSrcNat,
          rules: { natRules: [...towardsPods, ...towardsOthers] },
        },
      ],
    },
  );
}

/**
 * In the gateways to a peer: what the nodes send to the peer's networks, which have their own addresses by then, goes into the tunnel (networking
 * reference 14.1). Undefined while there is nothing to route: no node yet, or no network.
 *
 * @param end which one of the tunnel is in this cluster
 */
export function tunnelRoutes(
  configuration: Configuration,
  nodes: readonly InternalNode[],
  end: TunnelEnd,
): Generated<RouteConfiguration> | undefined {
  const { name, namespace = "" } = configuration.metadata;
  const { pod = [], external = [] } = configuration.spec.remote?.cidr ?? {};
  const networks = [...new Set([...pod, ...external].map((cidr) => formatCidr(parseCidr(cidr))))];
  const gw = tunnelAddress(otherEnd(end));
  const rules = [...nodes].sort(byName).flatMap((node) =>
    networks.map((dst) => ({
      iif: node.spec.interface.gateway.name,
      dst,
      routes: [{ dst, gw }],
    })),
  );
  if (rules.length === 0) return undefined;
  return routeConfiguration(
    {
      name: `${name}-gw-ext`,
      namespace,
      audience: { category: "gateway", unique: peerOf(configuration) },
      owner: controlledBy(configuration),
    },
    { name, rules },
  );
}

/** Sorts nodes, so that the order of a list does not change the result. */
export function byName(a: InternalNode, b: InternalNode): number {
  return a.metadata.name < b.metadata.name ? -1 : 1;
}
