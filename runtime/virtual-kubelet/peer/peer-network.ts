import ipaddr from "ipaddr.js";
import { isIP } from "node:net";

import type { Configuration, ForeignCluster } from "../../api";

/** What is known of the network between this cluster and a peer. */
export interface PeerNetwork {
  /** Whether the clusters are to be connected at all. */
  enabled: boolean;
  /** Whether they are. */
  ready: boolean;
  /** Translates the peer's addresses into those that reach it from here; what is in none of its networks is not shown. */
  translate: ReportedAddress;
  /** Whether addresses are translated: the peer then reaches this cluster by translated addresses as well. */
  remapped: boolean;
}

/**
 * Reads the network from the ForeignCluster and the networking Configuration of the peer. Until the controller has observed the ForeignCluster, networking
 * counts as enabled and down, so that no node is ready too early (offloading reference 7.3).
 */
export function peerNetwork(
  foreignCluster: ForeignCluster | undefined,
  configuration: Configuration | undefined,
): PeerNetwork {
  const status = foreignCluster?.status;
  const seen = (status?.observedGeneration ?? 0) > 0;
  const networking = status?.modules?.networking;
  const enabled = seen ? networking?.enabled === true : true;
  const connection = networking?.conditions?.find(({ type }) => type === "NetworkConnectionStatus")?.status;
  const pairs = enabled ? cidrPairs(configuration) : [];
  return {
    enabled,
    ready: foreignCluster !== undefined && connection === "Established",
    // Without a Configuration no network of the peer has a range here, so none of its addresses is reachable.
    translate: enabled && configuration !== undefined ? withinNetworks(pairs) : asReported,
    remapped: pairs.length > 0,
  };
}

/** Pod networks first, then external ones; none while the Configuration has not been answered. */
function cidrPairs(configuration: Configuration | undefined): CidrPair[] {
  const spec = configuration?.spec.remote?.cidr;
  const status = configuration?.status?.remote?.cidr;
  return [...paired(spec?.pod, status?.pod), ...paired(spec?.external, status?.external)];
}

function paired(originals: readonly string[] = [], remapped: readonly string[] = []): CidrPair[] {
  return originals.flatMap((original, index) => {
    const own = remapped[index];
    return own ? [{ original, remapped: own }] : [];
  });
}

/**
 * The address that is shown here for one that a provider reports; undefined for an address that the provider may not claim, because clients of Services
 * here send to whatever address a pod shows.
 */
export type ReportedAddress = (ip: string) => string | undefined;

/** Kinds of addresses that a pod can have. All others have a meaning on the sending host only, or none. */
const USABLE = new Set(["unicast", "private", "uniqueLocal", "carrierGradeNat", "reserved"]);

/** Without networking between the clusters nothing is known of the provider's networks: an address is shown as it is reported, if a pod can have it. */
export const asReported: ReportedAddress = (ip) => {
  if (isIP(ip) === 0) return undefined;
  return USABLE.has(ipaddr.process(ip).range()) && !isOldReserved(ip) ? ip : undefined;
};

/** With networking: addresses of the provider's networks alone, as this cluster reaches them. */
export function withinNetworks(pairs: readonly CidrPair[]): ReportedAddress {
  const networks = pairs.map(({ original }) => ipaddr.parseCIDR(original));
  const translate = ipTranslation(pairs);
  return (ip) => {
    if (isIP(ip) === 0) return undefined;
    const address = ipaddr.parse(ip);
    const holds = networks.some(
      ([network, bits]) => network.kind() === address.kind() && address.match([network, bits]),
    );
    return holds ? translate(ip) : undefined;
  };
}

/** 240.0.0.0/4: no router carries it. The library calls documentation networks reserved as well, which tests and labs use. */
function isOldReserved(ip: string): boolean {
  const first = Number(ip.split(".")[0]);
  return ipaddr.IPv4.isValid(ip) && first >= 240;
}

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
