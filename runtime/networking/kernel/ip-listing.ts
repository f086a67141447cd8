import { z } from "zod";

import { type Cidr, formatCidr, networkOf, parseAddress, parseCidr } from "../../ipam/cidr";

/** An interface, as far as it matters here. */
export interface ObservedLink {
  name: string;
  /** `vxlan`, `geneve`, `wireguard`, `tun`, …; undefined for a physical one. */
  kind?: string;
  up: boolean;
  /** Nothing is at the other end, as of a bridge without members. */
  noCarrier?: true;
  arp: boolean;
  mtu: number;
  macAddress?: string;
  /** Of an overlay. */
  overlay?: { id: number; remote: string; port: number; learning: boolean };
  /** IPv4, with their lengths: `10.80.0.1/32`. */
  addresses: string[];
}

const linkEntry = z.object({
  // A listing of addresses has an empty entry for each interface without one of the family.
  ifname: z.string().optional(),
  flags: z.array(z.string()).default([]),
  mtu: z.number().default(0),
  address: z.string().optional(),
  linkinfo: z
    .object({
      info_kind: z.string().optional(),
      info_data: z
        .object({
          id: z.number().optional(),
          remote: z.string().optional(),
          port: z.number().optional(),
          learning: z.boolean().optional(),
        })
        .optional(),
    })
    .optional(),
  addr_info: z
    .array(z.object({ family: z.string(), local: z.string().optional(), prefixlen: z.number().optional() }))
    .default([]),
});

/**
 * Reads `ip -j -d addr show`.
 *
 * @throws ZodError where it is no such listing
 */
export function parseLinks(text: string): ObservedLink[] {
  return z
    .array(linkEntry)
    .parse(JSON.parse(text))
    .flatMap((entry): ObservedLink[] => {
      if (entry.ifname === undefined) return [];
      const { info_kind: kind, info_data: data } = entry.linkinfo ?? {};
      return [
        {
          name: entry.ifname,
          ...(kind !== undefined && { kind }),
          up: entry.flags.includes("UP"),
          ...(entry.flags.includes("NO-CARRIER") && { noCarrier: true as const }),
          arp: !entry.flags.includes("NOARP"),
          mtu: entry.mtu,
          ...(entry.address !== undefined && { macAddress: entry.address }),
          ...(data?.id !== undefined && {
            overlay: {
              id: data.id,
              remote: data.remote ?? "",
              port: data.port ?? 0,
              learning: data.learning ?? false,
            },
          }),
          addresses: entry.addr_info.flatMap(({ family, local, prefixlen }) =>
            family === "inet" && local !== undefined ? [`${local}/${prefixlen ?? 32}`] : [],
          ),
        },
      ];
    });
}

const neighbourEntry = z.object({ dst: z.string(), dev: z.string(), lladdr: z.string().optional() });

/** A neighbour in one line, to be compared. */
export function neighbourText(neighbour: { dev: string; address: string; macAddress: string }): string {
  return `${neighbour.dev} ${neighbour.address} ${neighbour.macAddress}`;
}

/**
 * Reads `ip -4 -j neigh show nud permanent`.
 *
 * @throws ZodError where it is no such listing
 */
export function parseNeighbours(text: string): ReadonlySet<string> {
  const trimmed = text.trim();
  const entries = z.array(neighbourEntry).parse(trimmed === "" ? [] : JSON.parse(trimmed));
  return new Set(
    entries.map(({ dst, dev, lladdr }) => neighbourText({ dev, address: dst, macAddress: lladdr ?? "" })),
  );
}

/** A rule of the kernel's that leads to some table. Absent fields match everything. */
export interface ObservedRule {
  priority: number;
  table: string;
  src?: string;
  dst?: string;
  iif?: string;
  oif?: string;
  fwmark?: number;
  /** The routing protocol number, which says who set it; undefined where it has none. */
  protocol?: number;
  /** It has something that no rule of ours has: another action, an inversion, a mask. */
  foreign: boolean;
}

/** A route of the kernel's. */
export interface ObservedRoute {
  /** Number of its table; undefined where the listing is of one table. */
  table?: string;
  /** The routing protocol number, which says who set it; undefined where it has none. */
  protocol?: number;
  dst: string;
  gw?: string;
  dev?: string;
  src?: string;
  scope: string;
  onlink: boolean;
  /** Zero where none was given. */
  metric: number;
  /** It has something that no route of ours has: another type, several next hops. */
  foreign: boolean;
}

const ruleEntry = z.looseObject({
  priority: z.number(),
  src: z.string().optional(),
  srclen: z.number().optional(),
  dst: z.string().optional(),
  dstlen: z.number().optional(),
  iif: z.string().optional(),
  oif: z.string().optional(),
  fwmark: z.string().optional(),
  fwmask: z.string().optional(),
  table: z.string().optional(),
  protocol: z.string().optional(),
});
/** Fields of rules that say nothing about what they match. */
const RULE_FIELDS = new Set([...Object.keys(ruleEntry.shape), "iif_detached", "oif_detached"]);

const routeEntry = z.looseObject({
  type: z.string().optional(),
  table: z.string().optional(),
  protocol: z.string().optional(),
  dst: z.string(),
  gateway: z.string().optional(),
  dev: z.string().optional(),
  prefsrc: z.string().optional(),
  scope: z.string().optional(),
  metric: z.number().optional(),
  flags: z.array(z.string()).default([]),
  nexthops: z.unknown().optional(),
  via: z.unknown().optional(),
});

/** With numbers in the place of names (`-N`), as tables must be told apart, scopes and types are numbers, too. */
const SCOPES: Record<string, string> = {
  "0": "global",
  "200": "site",
  "253": "link",
  "254": "host",
  "255": "nowhere",
};
const UNICAST = new Set<unknown>([undefined, "unicast", "1"]);

/**
 * Reads `ip -4 -j -N rule show`.
 *
 * @throws ZodError where it is no such listing
 */
export function parseRules(text: string): ObservedRule[] {
  return z
    .array(ruleEntry)
    .parse(jsonOf(text))
    .map((entry) => {
      const { priority, table = "" } = entry;
      const src = network(entry.src, entry.srclen);
      const dst = network(entry.dst, entry.dstlen);
      return {
        priority,
        table,
        ...(src !== undefined && { src: formatCidr(src) }),
        ...(dst !== undefined && { dst: formatCidr(dst) }),
        ...(entry.iif !== undefined && { iif: entry.iif }),
        ...(entry.oif !== undefined && { oif: entry.oif }),
        ...(entry.fwmark !== undefined && { fwmark: Number(entry.fwmark) }),
        ...(entry.protocol !== undefined && { protocol: Number(entry.protocol) }),
        foreign: entry.fwmask !== undefined || Object.keys(entry).some((field) => !RULE_FIELDS.has(field)),
      };
    });
}

/**
 * Reads `ip -4 -j -N route show table <id>`, or of all tables.
 *
 * @throws ZodError where it is no such listing
 */
export function parseRoutes(text: string): ObservedRoute[] {
  return z
    .array(routeEntry)
    .parse(jsonOf(text))
    .map((entry) => ({
      ...(entry.table !== undefined && { table: entry.table }),
      ...(entry.protocol !== undefined && { protocol: Number(entry.protocol) }),
      dst: entry.dst === "default" ? "0.0.0.0/0" : formatCidr(network(entry.dst) ?? networkOf(0, 0)),
      ...(entry.gateway !== undefined && { gw: entry.gateway }),
      ...(entry.dev !== undefined && { dev: entry.dev }),
      ...(entry.prefsrc !== undefined && { src: entry.prefsrc }),
      scope: SCOPES[entry.scope ?? "0"] ?? entry.scope ?? "",
      onlink: entry.flags.includes("onlink"),
      metric: entry.metric ?? 0,
      foreign: !UNICAST.has(entry.type) || entry.nexthops !== undefined || entry.via !== undefined,
    }));
}

/** For a table that does not exist, `ip` prints nothing or an unclosed list. */
function jsonOf(text: string): unknown {
  const trimmed = text.trim();
  return trimmed === "" || trimmed === "[" ? [] : JSON.parse(trimmed);
}

/** `ip` writes `all` for everything, leaves out a length of 32, and in rules writes the length apart. */
function network(text: string | undefined, length?: number): Cidr | undefined {
  if (text === undefined || text === "all") return undefined;
  if (text === "default") return networkOf(0, 0);
  return text.includes("/") ? parseCidr(text) : networkOf(parseAddress(text), length ?? 32);
}
