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
