import ipaddr from "ipaddr.js";

/** A range as the remote cluster numbers it, and the range that stands for it here. */
export interface CidrPair {
  original: string;
  remapped: string;
}

/** Translates an address; one that no range holds, or that is no address, comes back unchanged. */
export type IpTranslation = (ip: string) => string;

/** Without networking between the clusters, and where nothing was remapped, addresses stay as they are. */
export const sameIp: IpTranslation = (ip) => ip;

interface Range {
  original: { address: number[]; bits: number };
  remapped: { address: number[]; bits: number };
  unchanged: boolean;
}

/**
 * The translation of remote addresses into those that reach them from here: the first pair whose original range holds the address decides,
 * and the network bits are replaced by those of the remapped range (offloading reference 11.8). IPv4 and IPv6.
 *
 * @throws if a range is not a CIDR
 */
export function ipTranslation(pairs: readonly CidrPair[]): IpTranslation {
  if (pairs.length === 0) return sameIp;
  const ranges = pairs.map(({ original, remapped }): Range => ({
    original: parseRange(original),
    remapped: parseRange(remapped),
    unchanged: original === remapped,
  }));
  return (ip) => {
    if (!ipaddr.isValid(ip)) return ip;
    const address = ipaddr.parse(ip).toByteArray();
    const range = ranges.find(({ original }) => holds(original, address));
    if (range === undefined || range.unchanged || range.remapped.address.length !== address.length) return ip;
    return ipaddr.fromByteArray(replaceNetwork(address, range.remapped)).toString();
  };
}

function parseRange(cidr: string): { address: number[]; bits: number } {
  try {
    const [address, bits] = ipaddr.parseCIDR(cidr);
    return { address: address.toByteArray(), bits };
  } catch (cause) {
    throw new Error(`"${cidr}" is not a CIDR; write it as 10.244.0.0/16`, { cause });
  }
}

function holds(range: { address: number[]; bits: number }, address: number[]): boolean {
  if (range.address.length !== address.length) return false;
  return address.every(
    (byte, index) => ((byte ^ (range.address[index] ?? 0)) & maskByte(range.bits, index)) === 0,
  );
}

function replaceNetwork(address: number[], range: { address: number[]; bits: number }): number[] {
  return address.map((byte, index) => {
    const mask = maskByte(range.bits, index);
    return (byte & ~mask & 0xff) | ((range.address[index] ?? 0) & mask);
  });
}

/** The byte at an index of a mask with that many leading ones. */
function maskByte(bits: number, index: number): number {
  const ones = Math.min(8, Math.max(0, bits - index * 8));
  return (0xff << (8 - ones)) & 0xff;
}
