import { isIPv4, isIPv6 } from "node:net";

/**
 * IPv4 addresses as unsigned 32-bit numbers: comparing, counting and masking them is plain arithmetic.
 *
 * The networks between clusters carry IPv4 only; an IPv6 address is refused in words that say so.
 */

/** @throws Error when the text is not an IPv4 address */
export function parseAddress(text: string): number {
  if (!isIPv4(text)) throw new Error(notAnAddress(text));
  let address = 0;
  for (const part of text.split(".")) address = address * 256 + Number(part);
  return address;
}

export function formatAddress(address: number): string {
  return `${address >>> 24}.${(address >>> 16) & 0xff}.${(address >>> 8) & 0xff}.${address & 0xff}`;
}

function notAnAddress(text: string): string {
  return isIPv6(text)
    ? `"${text}" is an IPv6 address; the networks between clusters carry IPv4 only`
    : `"${text}" is not an IPv4 address; write four numbers, as in 10.70.0.1`;
}

/** A network of IPv4 addresses. The bits of the address beyond the prefix are zero. */
export interface Cidr {
  readonly address: number;
  /** Of the prefix, in bits: 0 to 32. */
  readonly length: number;
}

/**
 * Reads a CIDR; bits beyond the prefix are dropped, as in `10.70.3.4/16`.
 *
 * @throws Error when the text is not an IPv4 CIDR
 */
export function parseCidr(text: string): Cidr {
  const [address = "", length = "", ...rest] = text.split("/");
  if (isIPv6(address)) {
    throw new Error(`"${text}" is an IPv6 network; the networks between clusters carry IPv4 only`);
  }
  if (rest.length > 0 || !isIPv4(address) || !/^(3[0-2]|[12]?\d)$/.test(length)) {
    throw new Error(`"${text}" is not a CIDR; write an address and a prefix length, as in 10.70.0.0/16`);
  }
  return networkOf(parseAddress(address), Number(length));
}

export function formatCidr({ address, length }: Cidr): string {
  return `${formatAddress(address)}/${length}`;
}

/** The network of a prefix length that holds the address. */
export function networkOf(address: number, length: number): Cidr {
  return { address: (address & netmask(length)) >>> 0, length };
}

/** As many leading ones as the prefix is long. */
export function netmask(length: number): number {
  return length === 0 ? 0 : (0xffffffff << (32 - length)) >>> 0;
}

/** How many addresses a network has. */
export function sizeOf({ length }: Cidr): number {
  return 2 ** (32 - length);
}

export function lastAddress(cidr: Cidr): number {
  return cidr.address + sizeOf(cidr) - 1;
}

export function containsAddress(cidr: Cidr, address: number): boolean {
  return (address & netmask(cidr.length)) >>> 0 === cidr.address;
}

/** Whether all of `inner` lies in `outer`; a network contains itself. */
export function containsCidr(outer: Cidr, inner: Cidr): boolean {
  return outer.length <= inner.length && containsAddress(outer, inner.address);
}

/** Two networks are either disjoint, or one contains the other. */
export function overlaps(a: Cidr, b: Cidr): boolean {
  return containsCidr(a, b) || containsCidr(b, a);
}

export function sameCidr(a: Cidr, b: Cidr): boolean {
  return a.address === b.address && a.length === b.length;
}

/** The two networks that make up a network of at least two addresses. */
export function halves({ address, length }: Cidr): readonly [Cidr, Cidr] {
  return [
    { address, length: length + 1 },
    { address: address + 2 ** (31 - length), length: length + 1 },
  ];
}

/** The address at the same place of another network: the prefix is the network's, the rest is the address's (networking reference 7). */
export function remapAddress(address: number, into: Cidr): number {
  const mask = netmask(into.length);
  return ((address & ~mask) | into.address) >>> 0;
}
