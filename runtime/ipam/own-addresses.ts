import { isIPv4 } from "node:net";

import {
  Annotation,
  type EndpointSlice,
  type InternalNode,
  Label,
  LabelValue,
  type Network,
  type Node,
  type Service,
} from "../api";
import { type Cidr, formatCidr, networkOf, overlaps, parseAddress, parseCidr } from "./cidr";
import { NetworkType, typeOf } from "./network-stage";

/** What this cluster's own traffic goes to: with a route to a peer over it, nodes would lose each other, the API server or the way out. */
export interface OwnRange {
  /** An address is a network of one. */
  cidr: Cidr;
  /** For people: `the InternalIP of Node rome-1`. */
  what: string;
}

interface OwnObjects {
  nodes: readonly Node[];
  internalNodes: readonly InternalNode[];
  /** The Service `kubernetes` in `default`, and the slices of its endpoints. */
  apiServer: { services: readonly Service[]; endpointSlices: readonly EndpointSlice[] };
}

/** The addresses of nodes, of their default gateways and of the API server. */
export function ownAddresses({ nodes, internalNodes, apiServer }: OwnObjects): OwnRange[] {
  return [
    ...nodes.flatMap(nodeAddresses),
    ...internalNodes.flatMap(defaultGateways),
    ...apiServer.endpointSlices.flatMap(({ endpoints }) =>
      (endpoints ?? []).flatMap(({ addresses }) => ownRanges(addresses, "an address of the API server")),
    ),
    ...apiServer.services.flatMap(({ spec }) =>
      ownRanges([spec?.clusterIP, ...(spec?.clusterIPs ?? [])], "the address of the API server's Service"),
    ),
  ];
}

/** The networks that Services have their addresses from. */
export function serviceNetworks(networks: readonly Network[]): OwnRange[] {
  return networks
    .filter((network) => typeOf(network) === NetworkType.service && !network.metadata.deletionTimestamp)
    .flatMap((network) => {
      try {
        const cidr = parseCidr(network.status?.cidr || network.spec.cidr);
        const { namespace = "", name } = network.metadata;
        return [{ cidr, what: `the network of Services (Network ${namespace}/${name})` }];
      } catch {
        return [];
      }
    });
}

/** Of texts those that are IPv4 addresses; the networks between clusters carry no others. */
export function ownRanges(addresses: readonly (string | undefined)[], what: string): OwnRange[] {
  return [...new Set(addresses)].flatMap((address) =>
    address !== undefined && isIPv4(address) ? [{ cidr: networkOf(parseAddress(address), 32), what }] : [],
  );
}

/** What of this cluster's own a range would take away; undefined where it leaves all of it alone. */
export function conflictOf(range: Cidr, own: readonly OwnRange[]): OwnRange | undefined {
  return own.find(({ cidr }) => overlaps(range, cidr));
}

/** `172.18.0.0/16 holds 172.18.0.2, the InternalIP of Node rome-1`. */
export function describeConflict(range: Cidr, { cidr, what }: OwnRange): string {
  const [verb, subject] =
    cidr.length === 32 ? ["holds", formatCidr(cidr).replace("/32", "")] : ["overlaps", formatCidr(cidr)];
  return `${formatCidr(range)} ${verb} ${subject}, ${what}`;
}

/** A virtual node has the address of its virtual kubelet's pod, which is in the network of pods. */
function nodeAddresses({ metadata, status }: Node): OwnRange[] {
  if (metadata.labels?.[Label.nodeType] === LabelValue.virtualNode) return [];
  return (status?.addresses ?? []).flatMap(({ type, address }) =>
    ownRanges([address], `the ${type} of Node ${metadata.name}`),
  );
}

function defaultGateways({ metadata }: InternalNode): OwnRange[] {
  const said = metadata.annotations?.[Annotation.defaultGateways]?.split(",");
  return ownRanges(said ?? [], `the default gateway of Node ${metadata.name}`);
}
