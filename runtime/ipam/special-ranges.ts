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
