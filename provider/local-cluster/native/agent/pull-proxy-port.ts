/** Port of a cluster's proxy on the host's address of the fabric. */
export function pullProxyPort(slot: number): number {
  return 3128 + slot;
}
