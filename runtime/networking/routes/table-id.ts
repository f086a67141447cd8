import { createHash } from "node:crypto";

/**
 * The number of a routing table, from its name: 31 bits, never one that the system uses (up to 255). The same on every host, as upstream computes
 * it (networking reference 13).
 */
export function routeTableId(name: string): number {
  const hash = createHash("sha256").update(name).digest();
  const [a = 0, b = 0, c = 0, d = 0] = hash;
  return (d >>> 1) * 2 ** 24 + c * 2 ** 16 + (b | 1) * 2 ** 8 + a;
}
