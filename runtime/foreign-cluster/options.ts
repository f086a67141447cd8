/** What the ForeignCluster controller is told by the flags of its process. */
export interface ForeignClusterOptions {
  /** Where the installation is. */
  liqoNamespace: string;
  networkingEnabled: boolean;
  authenticationEnabled: boolean;
  offloadingEnabled: boolean;
  /** Whether each virtual node has a process of its own. */
  virtualKubeletPerNode: boolean;
  /** Between two checks of a peer's API server, in milliseconds; 0 switches the checks off. */
  pingIntervalMs: number;
  /** For one check, in milliseconds. */
  pingTimeoutMs: number;
  /** Peers worked on at the same time. */
  workers: number;
}
