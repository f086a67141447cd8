import { Annotation, type FirewallConfiguration, InternalFabric } from "../api";
import { type Cidr, containsCidr, formatCidr, parseAddress, parseCidr } from "../ipam/cidr";
import { exceptStatus, type Informer, type InformerSet, type Source, watches } from "../kube";
import { type FirewallTable, type Match, parseAddressValue } from "../networking/firewall/firewall-table";
import { type Json, type NftTable, type RenderedRule, tableOf } from "../networking/firewall/nft-script";
import { OVERLAY_INTERFACE_PREFIX } from "../networking/overlay";
import { tunnelInterface } from "../networking/tunnel";
import { type Gateway, isFabricOf } from "./gateway";

/**
 * The table that drops packets which the peer may not send. The gateway builds it by itself. No object of the API asks for it, so nobody can remove it by
 * a write. It is loaded before the tunnel comes up, and without it no tunnel does.
 */
export class PacketFilter {
  /** Why the kernel has not the table that it should have; undefined where nothing is wrong. */
  fault: string | undefined;
  private readonly fabrics: Informer<InternalFabric>;

  constructor(
    informers: InformerSet,
    private readonly gateway: Gateway,
    private readonly options: { pingPort: number; overlayPort: number },
  ) {
    this.fabrics = informers.informer(InternalFabric, { namespace: gateway.namespace });
  }

  sources(key: string): Source[] {
    return [watches(this.fabrics, { keys: () => [key], when: exceptStatus })];
  }

  /** @param firewalls that the gateway carries out */
  table(firewalls: readonly FirewallConfiguration[]): NftTable {
    const { gateway, options } = this;
    const device = tunnelInterface();
    const tables = firewalls
      .filter(({ metadata }) => !metadata.deletionTimestamp)
      .map(({ spec }) => spec.table);
    return tunnelFilter({
      ...options,
      device,
      address: gateway.address,
      peerAddress: gateway.peerAddress,
      peerNetworks: this.networks(Annotation.peerNetworks),
      podNetworks: this.networks(Annotation.podNetworks),
      published: publishedBy(tables, device),
    });
  }

  /** What the controllers say of this gateway; nothing while they have said nothing. */
  private networks(annotation: typeof Annotation.peerNetworks | typeof Annotation.podNetworks): Cidr[] {
    return this.fabrics
      .list()
      .filter((fabric) => isFabricOf(this.gateway, fabric) && !fabric.metadata.deletionTimestamp)
      .flatMap(({ metadata }) => (metadata.annotations?.[annotation] ?? "").split(","))
      .filter((text) => text !== "")
      .map(parseCidr);
  }
}

/** The table of a gateway's own. */
export const TUNNEL_FILTER = { family: "ip", name: "liqo-tunnel" } as const;

/** Why packets of the peer are dropped: each is the comment of a rule that counts them. */
export const DROP_REASONS = ["way", "state", "source", "overlay", "destination", "gateway"] as const;
type DropReason = (typeof DROP_REASONS)[number];

export interface TunnelFilterFacts {
  /** Of the tunnel. */
  device: string;
  /** Own end of the tunnel. */
  address: string;
  peerAddress: string;
  pingPort: number;
  /** UDP port of the overlay between nodes and gateways. */
  overlayPort: number;
  /** The peer's networks as its packets have them. */
  peerNetworks: readonly Cidr[];
  /** Of this cluster. */
  podNetworks: readonly Cidr[];
  /** What peers reach by an address that stands for it. */
  published: readonly Cidr[];
}

/**
 * The rules for packets that come out of a tunnel. The peer is not trusted, and its gateway can send any packet.
 *
 * The chain `forward` sees a packet after its destination was translated and before its source is: the source is the peer's own, and the destination is this
 * cluster's. The last rule drops everything else.
 */
export function tunnelFilter(facts: TunnelFilterFacts): NftTable {
  const { device, address, peerAddress, pingPort, overlayPort } = facts;
  const elsewhere = rule("other devices", [compare("!=", meta("iifname"), `${device}*`), accept]);
  const answers = rule("answers", [compare("==", ct("direction"), "reply"), accept]);
  const errors = rule("errors of connections", [
    compare("==", meta("l4proto"), "icmp"),
    compare("in", ct("state"), "related"),
    accept,
  ]);
  const fromPeer = compare("==", ip("saddr"), peerAddress);
  const toUs = compare("==", ip("daddr"), address);
  return tableOf(TUNNEL_FILTER, [
    {
      name: "forward",
      ...filterAt("forward"),
      rules: [
        elsewhere,
        // Pods, and whatever else is meant, are behind the overlay. By the pod's own interface the default route leads to nodes, and beyond.
        drop("way", [compare("!=", meta("oifname"), `${OVERLAY_INTERFACE_PREFIX}*`)]),
        // Such a packet is not translated, so its source would be taken for one of this cluster.
        drop("state", [compare("in", ct("state"), "invalid")]),
        // A router of the peer says that a packet of ours is too long. The kernel has found the connection that it is about.
        errors,
        drop("source", notWithin("saddr", facts.peerNetworks)),
        // Gateways of other peers are pods, and take packets of the overlay as those of a node.
        drop("overlay", [compare("==", meta("l4proto"), "udp"), compare("==", port("dport"), overlayPort)]),
        ...within("daddr", facts.podNetworks).map((match) => rule("pods", [match, accept])),
        answers,
        ...within("daddr", facts.published).map((match) =>
          rule("published", [compare("in", ct("status"), "dnat"), match, accept]),
        ),
        drop("destination", []),
      ],
    },
    {
      name: "input",
      ...filterAt("input"),
      rules: [
        elsewhere,
        rule("pings", [
          fromPeer,
          toUs,
          compare("==", meta("l4proto"), "udp"),
          compare("==", port("dport"), pingPort),
          accept,
        ]),
        rule("echo requests", [
          fromPeer,
          toUs,
          compare("==", { payload: { protocol: "icmp", field: "type" } }, "echo-request"),
          accept,
        ]),
        errors,
        answers,
        drop("gateway", []),
      ],
    },
  ]);
}

/** Where tables translate destinations of what comes out of a tunnel: what was published to peers. */
export function publishedBy(tables: readonly FirewallTable[], device: string): Cidr[] {
  return tables
    .filter(({ family }) => family === "IPV4" || family === "INET")
    .flatMap(({ chains = [] }) => chains)
    .filter(({ type, hook }) => type === "nat" && hook === "prerouting")
    .flatMap(({ rules }) => rules.natRules ?? [])
    .filter(({ natType, match }) => natType === "dnat" && match.every((one) => mayArriveOn(device, one)))
    .flatMap(({ to = "" }) => {
      const value = parseAddressValue(to);
      if (value?.version !== 4 || value.form === "range") return [];
      return [
        value.form === "network" ? parseCidr(to) : { address: parseAddress(value.address), length: 32 },
      ];
    });
}

function mayArriveOn(device: string, { dev, op }: Match): boolean {
  if (dev?.position !== "in") return true;
  const { value } = dev;
  const isIt = value.endsWith("*") ? device.startsWith(value.slice(0, -1)) : device === value;
  return isIt === (op === "eq");
}

/** Before the tables that mark and clamp what is let through. */
const filterAt = (hook: "forward" | "input") =>
  ({ type: "filter", hook, priority: -10, policy: "accept" }) as const;

const accept: Json = { accept: null };
const meta = (key: string): Json => ({ meta: { key } });
const ct = (key: string): Json => ({ ct: { key } });
const ip = (field: "saddr" | "daddr"): Json => ({ payload: { protocol: "ip", field } });
const port = (field: "dport"): Json => ({ payload: { protocol: "th", field } });
const compare = (op: "==" | "!=" | "in", left: Json, right: Json): Json => ({ match: { op, left, right } });

function rule(comment: string, expressions: Json[]): RenderedRule {
  return { comment, expressions };
}

function drop(reason: DropReason, matches: Json[]): RenderedRule {
  return rule(reason, [...matches, { counter: null }, { drop: null }]);
}

/** Without networks no packet matches, so there is no match to write. */
function within(field: "saddr" | "daddr", networks: readonly Cidr[]): Json[] {
  return networks.length === 0 ? [] : [compare("==", ip(field), elements(networks))];
}

/** Without networks every packet matches, so there is no condition to write. */
function notWithin(field: "saddr" | "daddr", networks: readonly Cidr[]): Json[] {
  return networks.length === 0 ? [] : [compare("!=", ip(field), elements(networks))];
}

/** A set, in which nft takes no network twice, and none inside of another. */
function elements(networks: readonly Cidr[]): Json {
  const sorted = [...networks].sort((a, b) => a.address - b.address || a.length - b.length);
  const kept: Cidr[] = [];
  for (const network of sorted) {
    const last = kept.at(-1);
    if (last === undefined || !containsCidr(last, network)) kept.push(network);
  }
  return {
    set: kept.map((network): Json => {
      const [addr = "", bits] = formatCidr(network).split("/");
      const len = Number(bits);
      return len === 32 ? addr : { prefix: { addr, len } };
    }),
  };
}
