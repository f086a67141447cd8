import { type Configuration, type IP, Label, type Network } from "../api";
import { type Cidr, containsAddress, networkOf, parseAddress, parseCidr } from "./cidr";
import { NetworkType, typeOf } from "./network-stage";
import { conflictOf, type OwnRange } from "./own-addresses";
import { unusableReason } from "./pools";

/** What the IPs of a tenant namespace are checked against. */
export interface PeerIPContext {
  /** The cluster whose tenant namespace it is. */
  peer: string;
  /** The addresses of nodes, their gateways and the API server. */
  own: readonly OwnRange[];
  /** All of the cluster. */
  networks: readonly Network[];
  /** All of the cluster. */
  configurations: readonly Configuration[];
}

/** What a peer may say of the Service of an IP. Anything else would open this cluster to the outside, or take what belongs to other Services. */
const SERVICE_FIELDS = ["ports", "type"];
const PORT_FIELDS = ["name", "port", "protocol", "targetPort", "appProtocol"];
/** Labels of these say to programs what an object is. */
const RESERVED_LABEL = /(^|\.)(liqo|kubernetes|k8s)\.io\//;

/** Networks of the installation whose addresses nobody makes an IP for. */
const NOT_TO_BE_NAMED: Record<string, string> = {
  [NetworkType.pod]: "the network of pods, which peers reach as they are",
  [NetworkType.external]: "the network that IPs get their addresses from",
  [NetworkType.internal]: "the network between nodes and gateways",
};

/**
 * What is wrong with an IP in a tenant namespace, where a peering user may make them; each with its field, the value and the way out. It leads
 * peers to an address of this cluster, so it may not lead to what keeps the cluster running, nor to other consumers.
 */
export function peerIPFaults({ spec }: IP, dependencies: PeerIPContext): string[] {
  const why = addressFault(spec.ip, dependencies);
  return [
    ...(why === undefined
      ? []
      : [
          `spec.ip: ${spec.ip} ${why}; give another address, or have this cluster's administrator make the IP in a namespace that is no tenant's`,
        ]),
    ...(spec.networkRef?.name
      ? [
          `spec.networkRef: is ${spec.networkRef.namespace ?? ""}/${spec.networkRef.name}, and addresses for peers come from the external network; leave it out`,
        ]
      : []),
    ...serviceFaults(spec.serviceTemplate),
  ];
}

function addressFault(
  ip: string,
  { peer, own, networks, configurations }: PeerIPContext,
): string | undefined {
  let address: number;
  try {
    address = parseAddress(ip);
  } catch {
    return "is no IPv4 address";
  }
  const itself = networkOf(address, 32);
  const special = unusableReason(itself);
  if (special !== undefined) return special.replace(/^\S+ overlaps/, "is in");
  const conflict = conflictOf(itself, own);
  if (conflict !== undefined) return `is ${conflict.what}`;
  for (const network of networks) {
    const what = NOT_TO_BE_NAMED[typeOf(network)];
    const cidr = what === undefined ? undefined : read(network.status?.cidr || network.spec.cidr);
    if (cidr !== undefined && containsAddress(cidr, address)) return `is in ${what}`;
  }
  const other = configurations
    .filter(({ metadata }) => metadata.labels?.[Label.remoteClusterID] !== peer)
    .find((configuration) => rangesHere(configuration).some((cidr) => containsAddress(cidr, address)));
  return other && `is in a network of cluster "${other.metadata.labels?.[Label.remoteClusterID] ?? ""}"`;
}

/** The places that a peer's networks have in this cluster. */
function rangesHere({ status }: Configuration): Cidr[] {
  const { pod = [], external = [] } = status?.remote?.cidr ?? {};
  return [...pod, ...external].flatMap((cidr) => read(cidr) ?? []);
}

function read(cidr: string): Cidr | undefined {
  try {
    return parseCidr(cidr);
  } catch {
    return undefined;
  }
}

function serviceFaults(template: IP["spec"]["serviceTemplate"]): string[] {
  if (template === undefined) return [];
  const { metadata, spec } = template;
  const faults: string[] = [];
  const refuse = (field: string, value: unknown, wayOut: string) =>
    faults.push(`spec.serviceTemplate.${field}: is ${JSON.stringify(value)}; ${wayOut}`);
  for (const [field, value] of Object.entries(spec ?? {}))
    if (!SERVICE_FIELDS.includes(field))
      refuse(`spec.${field}`, value, `leave it out, a peer gives ${SERVICE_FIELDS.join(" and ")} alone`);
  if (spec?.type !== undefined && spec.type !== "ClusterIP")
    refuse("spec.type", spec.type, "write ClusterIP, or leave it out");
  for (const [index, port] of (spec?.ports ?? []).entries())
    for (const [field, value] of Object.entries(port))
      if (!PORT_FIELDS.includes(field)) refuse(`spec.ports.${index}.${field}`, value, "leave it out");
  for (const [label, value] of Object.entries(metadata?.labels ?? {}))
    if (RESERVED_LABEL.test(label)) refuse(`metadata.labels.${label}`, value, "leave it out");
  if (Object.keys(metadata?.annotations ?? {}).length > 0)
    refuse("metadata.annotations", metadata?.annotations, "leave them out");
  return faults;
}
