import { z } from "zod";

import { parseAddress } from "../../ipam/address";
import { type Cidr, formatCidr, networkOf, parseCidr } from "../../ipam/cidr";

/** A rule of the kernel's that leads to some table. Absent fields match everything. */
export interface ObservedRule {
  priority: number;
  table: string;
  src?: string;
  dst?: string;
  iif?: string;
  oif?: string;
  fwmark?: number;
  /** Number of whoever set it; undefined for those who do not say. */
  protocol?: number;
  /** It has something that no rule of ours has: another action, an inversion, a mask. */
  foreign: boolean;
}

/** A route of the kernel's. */
export interface ObservedRoute {
  /** Number of its table; undefined where the listing is of one table. */
  table?: string;
  /** Number of whoever set it; undefined for those who do not say. */
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

/** A table that does not exist yet is listed as nothing at all, or as a list that is not closed. */
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
