import { createHash } from "node:crypto";
import { isIP } from "node:net";

import type { FirewallConfiguration } from "../../api";

/** The parts of a FirewallConfiguration by name. */
export type FirewallTable = FirewallConfiguration["spec"]["table"];
export type Chain = NonNullable<FirewallTable["chains"]>[number];
export type NatRule = NonNullable<Chain["rules"]["natRules"]>[number];
export type FilterRule = NonNullable<Chain["rules"]["filterRules"]>[number];
export type Match = FilterRule["match"][number];

/** The names of a chain's rules, of whatever kind they are, in order. */
export function rulesOf({ rules }: Chain): readonly { name?: string }[] {
  return rules.natRules ?? rules.filterRules ?? rules.routeRules ?? [];
}

/** What a match compares an address with. */
export type AddressValue =
  | { form: "address"; version: 4 | 6; address: string }
  | { form: "network"; version: 4 | 6; address: string; length: number }
  | { form: "range"; version: 4 | 6; from: string; to: string };

/** Reads an address, a CIDR or a range `a-b`; undefined where the text is none of them. */
export function parseAddressValue(text: string): AddressValue | undefined {
  const [from = "", to, ...more] = text.split("-");
  if (to !== undefined) {
    const version = versionOf(from);
    if (more.length > 0 || version === undefined || versionOf(to) !== version) return undefined;
    return { form: "range", version, from, to };
  }
  const [address = "", bits, ...rest] = text.split("/");
  const version = versionOf(address);
  if (version === undefined || rest.length > 0) return undefined;
  if (bits === undefined) return { form: "address", version, address };
  const length = Number(bits);
  const whole = version === 4 ? 32 : 128;
  if (!/^\d{1,3}$/.test(bits) || length > whole) return undefined;
  return length === whole
    ? { form: "address", version, address }
    : { form: "network", version, address, length };
}

/** Reads a port or a range `a-b`, as first and last; undefined where the text is neither. */
export function parsePortValue(text: string): readonly [number, number] | undefined {
  const [, from, to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
  const [first, last] = [Number(from), Number(to)];
  return from !== undefined && first <= 65535 && last <= 65535 ? [first, last] : undefined;
}

/** Reads a mark or a segment size, decimal or with `0x`; undefined where the text is no 32-bit number. */
export function parseNumberValue(text: string): number | undefined {
  if (!/^(\d+|0x[0-9a-fA-F]+)$/.test(text)) return undefined;
  const value = Number(text);
  return value <= 0xffffffff ? value : undefined;
}

function versionOf(address: string): 4 | 6 | undefined {
  const version = isIP(address);
  return version === 4 || version === 6 ? version : undefined;
}

/** What the kernel takes, in bytes. */
const LONGEST_NAME = 255;
const LONGEST_COMMENT = 128;

/** The name of a table or chain in the kernel: the given one, cut and made unique by a hash where it is too long. */
export function nftName(name: string): string {
  return bounded(name, LONGEST_NAME);
}

/** The comment by which a rule is known in the kernel: its name, cut like {@link nftName}. */
export function ruleComment(name: string): string {
  return bounded(name, LONGEST_COMMENT);
}

/**
 * The name of an empty chain that agents put into each table of theirs: it says that the table is theirs, and what it was loaded from.
 * Comments of tables would say so too, but the JSON listings leave them out.
 */
export function markerOf(content: string): string {
  return `liqo-${createHash("sha256").update(content).digest("hex").slice(0, 16)}`;
}

export function isMarker(chain: string): boolean {
  return /^liqo-[0-9a-f]{16}$/.test(chain);
}

function bounded(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
  let end = text;
  while (Buffer.byteLength(end) > bytes - 17) end = end.slice(0, -1);
  return `${end}-${hash}`;
}
