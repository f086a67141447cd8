import type { GlobalMetadata } from "../kube";

/** What the address management is told by the flags of its process. */
export interface IpamOptions {
  liqoNamespace: string;
  /** Where networks are taken from, in the order in which they are searched. Default: {@link DEFAULT_POOLS}. */
  pools: readonly string[];
  /** How often memory is compared with the objects, in milliseconds; 0 leaves it at the beginning. Default upstream: 2 minutes. */
  syncIntervalMs: number;
  global: GlobalMetadata;
}
