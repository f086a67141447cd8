/** What a cluster of a network lab is like. */

export interface NodePlan {
  name: string;
  /** On the cluster's LAN, with its length. */
  address: string;
  podCidr: string;
}

export interface NetworkClusterPlan {
  id: string;
  liqoNamespace: string;
  podCidr: string;
  serviceCidr: string;
  externalCidr: string;
  internalCidr: string;
  /** Of the LAN's router. */
  router: string;
  /** Of the router towards other clusters, with its length. */
  outside: string;
  nodes: NodePlan[];
  /** Others see all of this cluster under the router's outer address. */
  behindNat: boolean;
}

/** An address without its length. */
export function bare(address: string): string {
  return address.split("/")[0] ?? address;
}

/** The n-th address of a network. */
export function addressAt(cidr: string, n: number): string {
  const parts = bare(cidr).split(".").map(Number);
  const number = parts.reduce((sum, part) => sum * 256 + part, 0) + n;
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join(".");
}
