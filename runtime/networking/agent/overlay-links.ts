import { Annotation, GeneveTunnel, InternalFabric, InternalNode } from "../../api";
import {
  exceptStatus,
  type Informer,
  type InformerSet,
  type Selection,
  type Source,
  type SourceEvent,
  watches,
} from "../../kube";
import { parseAddress } from "../../ipam/cidr";
import type { Kernel } from "../kernel/kernel";
import { neighbourText, type ObservedLink } from "../kernel/ip-listing";
import { OVERLAY_INTERFACE_PREFIX } from "../overlay";

/** Encapsulations that carry the overlay; both have the same identifiers. */
const OVERLAY_KINDS = ["geneve", "vxlan"] as const;
export type OverlayKind = (typeof OVERLAY_KINDS)[number];

/** An interface between one node and one gateway. */
export interface OverlayLink {
  name: string;
  kind: OverlayKind;
  /** Identifier of the network. */
  id: number;
  /** Where the other end is. */
  remote: string;
  port: number;
  /** Bytes. */
  mtu: number;
  /** Of this end in the overlay. */
  address: string;
  /** Of the other end in the overlay, where it is known without asking: that end does not answer where a pod of its peer has the address. */
  peer?: string;
  arp: boolean;
}

/** The overlay's interfaces that an agent wants. */
export interface DesiredOverlay {
  links: OverlayLink[];
  /** Names of the interfaces that stay as they are, because what they should be is not known yet. */
  kept: Set<string>;
}

export interface OverlayOptions {
  /** The node that the agent runs on. */
  node: string;
  /** UDP port of the overlay. */
  port: number;
  arp: boolean;
}

/** The objects that an agent reads its overlay from. */
export class OverlayCaches {
  readonly tunnels: Informer<GeneveTunnel>;
  readonly fabrics: Informer<InternalFabric>;
  readonly nodes: Informer<InternalNode>;

  constructor(
    informers: InformerSet,
    { tunnels, fabrics }: { tunnels?: Selection<GeneveTunnel>; fabrics?: Selection<InternalFabric> },
  ) {
    this.tunnels = informers.informer(GeneveTunnel, tunnels);
    this.fabrics = informers.informer(InternalFabric, fabrics);
    this.nodes = informers.informer(InternalNode);
  }

  /** @param ofNode which changes of nodes matter. Default: all but those of the status. */
  sources(key: string, ofNode: (event: SourceEvent<InternalNode>) => boolean = exceptStatus): Source[] {
    const keys = () => [key];
    return [
      watches(this.tunnels, { keys, when: exceptStatus }),
      watches(this.fabrics, { keys, when: exceptStatus }),
      watches(this.nodes, { keys, when: ofNode }),
    ];
  }
}

interface OverlayPlan {
  /** Remove interfaces, those that are made anew as well. */
  removals: string[];
  /** Make and change interfaces. */
  changes: string[];
}

/**
 * The lines for `ip -4 -force -batch -` that make the overlay's interfaces those that are wanted.
 *
 * @param kept names of interfaces that stay as they are, because it is not known yet how they should be
 * @param neighbours the lasting ones that interfaces have, as {@link neighbourText} says them
 */
export function overlayPlan(
  wanted: readonly OverlayLink[],
  kept: ReadonlySet<string>,
  observed: readonly ObservedLink[],
  neighbours: ReadonlySet<string> = new Set(),
): OverlayPlan {
  const present = new Map(observed.map((link) => [link.name, link]));
  const names = new Set(wanted.map(({ name }) => name));
  const removals = observed
    .filter((link) => isOverlay(link) && !names.has(link.name) && !kept.has(link.name))
    .map(({ name }) => `link del dev ${name}`);
  const changes: string[] = [];
  for (const link of wanted) {
    const have = present.get(link.name);
    if (have !== undefined && isSameTunnel(link, have)) {
      changes.push(...adjustments(link, have, neighbours));
      continue;
    }
    if (have !== undefined) removals.push(`link del dev ${link.name}`);
    changes.push(...creation(link));
  }
  return { removals, changes };
}

/** Whether an interface is one of the overlay's: by its name and by its kind. */
export function isOverlay({ name, kind }: ObservedLink): boolean {
  return name.startsWith(OVERLAY_INTERFACE_PREFIX) && OVERLAY_KINDS.some((known) => known === kind);
}

/**
 * From the address in the overlay, so that an end that is made anew has the same one: the other end need not find it out again.
 * The second bit of the first byte says that no manufacturer gave it.
 */
export function overlayMacAddress(address: string): string {
  const number = parseAddress(address);
  const bytes = [0x02, 0x6c, ...[24, 16, 8, 0].map((shift) => (number >>> shift) & 0xff)];
  return bytes.map((byte) => byte.toString(16).padStart(2, "0")).join(":");
}

function isSameTunnel(link: OverlayLink, have: ObservedLink): boolean {
  return (
    have.kind === link.kind &&
    have.overlay?.id === link.id &&
    have.overlay.remote === link.remote &&
    have.overlay.port === link.port &&
    !have.overlay.learning &&
    have.macAddress === overlayMacAddress(link.address)
  );
}

function creation(link: OverlayLink): string[] {
  const { name, kind, id, remote, port, mtu, address } = link;
  return [
    `link add name ${name} address ${overlayMacAddress(address)} mtu ${mtu} txqueuelen 1000 type ${kind} id ${id} remote ${remote} dstport ${port}${kind === "vxlan" ? " nolearning" : ""}`,
    // No address of its own in IPv6, whose neighbour discovery nobody answers.
    `link set dev ${name} addrgenmode none`,
    `addr add ${address}/32 dev ${name}`,
    `link set dev ${name} ${link.arp ? "" : "arp off "}up`,
    ...neighbour(link),
  ];
}

function neighbour({ name, peer, arp }: OverlayLink, present: ReadonlySet<string> = new Set()): string[] {
  if (peer === undefined || !arp) return [];
  const macAddress = overlayMacAddress(peer);
  if (present.has(neighbourText({ dev: name, address: peer, macAddress }))) return [];
  return [`neigh replace ${peer} lladdr ${macAddress} dev ${name} nud permanent`];
}

function adjustments(link: OverlayLink, have: ObservedLink, neighbours: ReadonlySet<string>): string[] {
  const { name, mtu } = link;
  const address = `${link.address}/32`;
  return [
    ...(have.mtu === mtu ? [] : [`link set dev ${name} mtu ${mtu}`]),
    ...(have.arp === link.arp ? [] : [`link set dev ${name} arp ${link.arp ? "on" : "off"}`]),
    ...have.addresses.filter((other) => other !== address).map((other) => `addr del ${other} dev ${name}`),
    ...(have.addresses.includes(address) ? [] : [`addr add ${address} dev ${name}`]),
    ...(have.up ? [] : [`link set dev ${name} up`]),
    ...neighbour(link, neighbours),
  ];
}

/**
 * What the overlay of this cluster is made of: geneve, unless the kernel of some node lacks it. Each agent says on its InternalNode what its node has, so
 * all of them come to the same answer. Undefined while no node has said anything.
 */
export function overlayKind(nodes: readonly InternalNode[]): OverlayKind | undefined {
  const said = new Set(nodes.map(overlayOf));
  if (said.has("vxlan")) return "vxlan";
  return said.has("geneve") ? "geneve" : undefined;
}

export function overlayOf({ metadata }: InternalNode): OverlayKind | undefined {
  const said = metadata.annotations?.[Annotation.overlay];
  return OVERLAY_KINDS.find((kind) => kind === said);
}

/** Never given to a tunnel. */
const PROBE_ID = 2 ** 24 - 1;
const PROBE = `${OVERLAY_INTERFACE_PREFIX}probe`;

/**
 * What this kernel has for the overlay: geneve, or else vxlan. Found by trying, unless an agent has found it since the kernel was started.
 *
 * @param said by an agent before
 */
export async function probeOverlay(kernel: Kernel, said: OverlayKind | undefined): Promise<OverlayKind> {
  const isInUse = (await kernel.links()).some((link) => isOverlay(link) && link.name !== PROBE);
  if (said !== undefined && isInUse) return said;
  // 192.0.2.0/24 is for documentation: nothing is ever sent there.
  const refused = await kernel.applyBatch([
    `link add name ${PROBE} type geneve id ${PROBE_ID} remote 192.0.2.1`,
  ]);
  if (refused.some(({ message }) => /Unknown device type|not supported/i.test(message))) return "vxlan";
  await kernel.applyBatch([`link del dev ${PROBE}`]);
  return "geneve";
}
