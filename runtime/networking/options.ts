import type { GlobalMetadata } from "../kube";

/** What the networking controllers are told by the flags of their process. */
export interface NetworkingOptions {
  /** Where the installation is. */
  liqoNamespace: string;
  /** Pods, too, reach peers with the address of unknown senders. */
  fullMasquerade: boolean;
  /** Of the rules on nodes that lead to gateways; 0 lets the kernel choose. Some CNIs have rules of their own that must come later. */
  fabricRulePriority: number;
  /** Keeps the CNI from masquerading what gateways send to nodes over the overlay. */
  gatewayMasqueradeBypass: boolean;
  /** UDP port of the overlay. */
  genevePort: number;
  /** Longest TCP segment in tunnels, in bytes; 0 takes the path's, undefined leaves it to the ends. */
  segmentSizeClamp: number | undefined;
  /** Leaves packets of the overlay out of connection tracking. */
  overlayWithoutTracking: boolean;
  /** How peers reach this cluster's API server: by the address of its Service, or by those of its endpoints. */
  apiServerBy: "service" | "endpoints";
  /** Whether peers reach this cluster's API server proxy. */
  exportProxy: boolean;
  /** Role of the accounts that gateways run as. */
  gatewayClusterRole: string;
  /** Whether there are pods that run at peers. */
  offloadingEnabled: boolean;
  global: GlobalMetadata;
}
