import type { Configuration, InternalNode, RouteConfiguration } from "../../api";
import { controlledBy } from "../../kube";
import { formatCidr, parseCidr } from "../../ipam/cidr";
import { otherEnd, tunnelAddress, type TunnelEnd } from "../tunnel";
import { type Generated, routeConfiguration } from "./configurations";
import { peerOf } from "./peer";

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

/** So that a list in another order makes no difference. */
export function byName(a: InternalNode, b: InternalNode): number {
  return a.metadata.name < b.metadata.name ? -1 : 1;
}
