import { type Cidr, formatCidr, overlaps, parseCidr } from "./cidr";

const SPECIAL: readonly { cidr: Cidr; what: string }[] = [
  { cidr: parseCidr("0.0.0.0/8"), what: "unspecified addresses" },
  { cidr: parseCidr("127.0.0.0/8"), what: "loopback addresses" },
  { cidr: parseCidr("169.254.0.0/16"), what: "link-local addresses, among them those of the tunnels" },
  { cidr: parseCidr("224.0.0.0/4"), what: "multicast addresses" },
  { cidr: parseCidr("240.0.0.0/4"), what: "reserved addresses" },
];

/**
 * Why no pod or service can have addresses of a network; undefined where it can. API servers refuse endpoints in these ranges, and routers
 * drop their packets, so that it is better said when the network is configured.
 */
export function unusableReason(cidr: Cidr): string | undefined {
  const special = SPECIAL.find((range) => overlaps(range.cidr, cidr));
  return special && `${formatCidr(cidr)} overlaps ${formatCidr(special.cidr)} (${special.what})`;
}

/** Where networks are taken from, in the order in which they are searched (networking reference 2). */
export const DEFAULT_POOLS: readonly string[] = ["10.0.0.0/8", "192.168.0.0/16", "172.16.0.0/12"];

/**
 * Reads the pools of an installation.
 *
 * @throws Error naming the pool that is no network, or the two that overlap: no network could be reserved in both
 */
export function parsePools(texts: readonly string[]): Cidr[] {
  const pools: Cidr[] = [];
  for (const text of texts) {
    const pool = parseCidr(text);
    if (formatCidr(pool) !== text) {
      throw new Error(`pool ${text} has bits beyond its prefix; write ${formatCidr(pool)}`);
    }
    const reason = unusableReason(pool);
    if (reason !== undefined) throw new Error(`pool ${reason}; choose a private range`);
    const other = pools.find((earlier) => overlaps(earlier, pool));
    if (other !== undefined) {
      throw new Error(
        `pools ${formatCidr(other)} and ${text} overlap; keep one of them, or make them disjoint`,
      );
    }
    pools.push(pool);
  }
  if (pools.length === 0) throw new Error("there are no pools; give at least one, such as 10.0.0.0/8");
  return pools;
}
