import { type Configuration, type InternalNode, type IP, Name, type RouteConfiguration } from "../../api";
import {
  controlledBy,
  type Controller,
  isDeleting,
  ownedBy,
  runController,
  type Source,
  watches,
} from "../../kube";
import { containsAddress, formatAddress, formatCidr, parseAddress, parseCidr } from "../../ipam/cidr";
import { NetworkType, typeOf } from "../../ipam/network-stage";
import { cidrMappings, isConfigured, unknownSource } from "../address-mapping";
import {
  NODE_PORT_FIREWALL,
  NodeMarks,
  nodePortFirewall,
  nodePortRoute,
  nodePortRouteName,
} from "./node-port-return";
import { type Generated, routeConfiguration } from "../generated";
import { objectName } from "../labels";
import type { NetworkingContext } from "../networking-context";
import type { Route } from "../routes/validation";

/**
 * Writes for each node the ways that lead to it in gateways: back to what it sent itself, and to what lies behind it but is no pod of the
 * cluster (networking reference 14.5).
 */
export function runNodeRoutesController(networking: NetworkingContext): Controller[] {
  const { runtime, caches, options, routes, firewalls } = networking;
  const { internalNodes, configurations, ips, networks } = caches;
  const marks = new NodeMarks(caches, options.liqoNamespace);
  const nodes = () => internalNodes.list().filter((node) => !isDeleting(node));
  const names = () => nodes().map(({ metadata }) => metadata.name);
  const externalChanges = (keys: () => string[]): Source =>
    watches(networks, { keys: (network) => (typeOf(network) === NetworkType.external ? keys() : []) });

  /** The address of unknown senders of this cluster. */
  const unknown = (): string | undefined => {
    const external = networks.list().find((network) => typeOf(network) === NetworkType.external);
    return external?.status?.cidr ? unknownSource(parseCidr(external.status.cidr)) : undefined;
  };
  /** IPs of pods that peers run need no route of their own, and there may be thousands of them. */
  const hasRoute = (address: string) => {
    const number = parseAddress(address);
    return !configurations
      .list()
      .filter(isConfigured)
      .some((configuration) =>
        cidrMappings(configuration, "pod").some(({ remapped }) => containsAddress(remapped, number)),
      );
  };

  const ofNodes = runController(
    {
      name: "node-routes",
      sources: [
        watches(internalNodes),
        watches(configurations, { keys: names }),
        watches(ips, { keys: ({ spec }) => (hasRoute(spec.ip) ? names() : []) }),
        watches(caches.routes, { keys: ownedByNode }),
        externalChanges(names),
      ],
      objectOf: (name) => internalNodes.get(name),
      reconcile: async (name) => {
        const node = internalNodes.get(name);
        if (node === undefined || isDeleting(node)) return;
        const source = unknown();
        const external = externalRoutes(node, configurations.list(), ips.list(), options.liqoNamespace);
        // Decided before the first write: a node that goes meanwhile must not get a mark any more.
        const back =
          source === undefined ? [] : [nodePortRoute(marks.of(node), source, options.liqoNamespace)];
        await routes.ensure(external);
        await routes.ensureOnly(back, [{ name: nodePortRouteName(name), namespace: options.liqoNamespace }]);
      },
    },
    runtime,
  );

  const ofCluster = runController(
    {
      name: "node-port-firewall",
      sources: [
        watches(internalNodes, { keys: () => [NODE_PORT_FIREWALL] }),
        watches(caches.firewalls, {
          keys: ({ metadata }) => (metadata.name === NODE_PORT_FIREWALL ? [NODE_PORT_FIREWALL] : []),
        }),
        externalChanges(() => [NODE_PORT_FIREWALL]),
      ],
      reconcile: async () => {
        const source = unknown();
        const marked = nodes()
          .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
          .map((node) => marks.of(node));
        const firewall =
          source === undefined ? undefined : nodePortFirewall(marked, source, options.liqoNamespace);
        await firewalls.ensureOnly(firewall === undefined ? [] : [firewall], [
          { name: NODE_PORT_FIREWALL, namespace: options.liqoNamespace },
        ]);
      },
    },
    runtime,
  );
  return [ofNodes, ofCluster];
}

/** For a source: the node that controls an object; nodes have no namespace. */
export const ownedByNode = (object: Parameters<ReturnType<typeof ownedBy>>[0]): string[] =>
  ownedBy("InternalNode")(object).map((key) => key.slice(key.indexOf("/") + 1));

/**
 * In the gateways on a node: what peers send to addresses that are no pod's of this cluster goes to that node, which routes it like its own traffic. Those are
 * the addresses of IPs, and pods of other peers, to which this cluster is a hub (networking reference 14.5, 15.4).
 *
 * IPs of pods that peers run lie in the networks of those peers, and need no route of their own: however many there are, this stays small.
 */
export function externalRoutes(
  node: InternalNode,
  configurations: readonly Configuration[],
  ips: readonly IP[],
  liqoNamespace: string,
): Generated<RouteConfiguration> {
  const name = objectName(`${node.metadata.name}-extcidr`);
  const { gateway, node: end } = node.spec.interface;
  const towardsNode = (dst: string): Route => ({ dst, dev: gateway.name, gw: end.ip });
  const networks = configurations
    .filter(isConfigured)
    .flatMap((configuration) => cidrMappings(configuration, "pod").map(({ remapped }) => remapped));
  const addresses = new Set(
    ips
      .filter(({ metadata, status }) => !metadata.deletionTimestamp && status?.ip)
      .map(({ spec }) => parseAddress(spec.ip))
      .filter((address) => !networks.some((network) => containsAddress(network, address))),
  );
  return routeConfiguration(
    {
      name,
      namespace: liqoNamespace,
      audience: { category: "gateway", subcategory: "fabric-node", unique: node.metadata.name },
      owner: controlledBy(node),
    },
    {
      name,
      rules: [
        ...[...new Set(networks.map(formatCidr))].sort().map((dst) => ({
          dst,
          iif: Name.tunnelInterface,
          routes: [towardsNode(dst)],
        })),
        {
          iif: Name.tunnelInterface,
          routes: [...addresses]
            .sort((a, b) => a - b)
            .map((address) => towardsNode(`${formatAddress(address)}/32`)),
        },
      ],
    },
  );
}
