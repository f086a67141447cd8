/** Names and ports of what the networking consists of (networking reference 2, 9, 11). */
export const NetworkingRole = {
  /** Of the account that each gateway runs as, in the gateway's own namespace; the controller manager binds it. */
  gateway: "liqo-gateway",
  /** What that account reads in the whole cluster. */
  gatewayClusterWide: "liqo-gateway-clusterwide",
  /** What that account reports in the Liqo namespace. */
  gatewayLiqoNamespace: "liqo-gateway-liqo-ns",
  /** Of the agent on each node. */
  fabric: "liqo-fabric",
} as const;

/** UDP port of the overlay between nodes and gateways. */
export const OVERLAY_PORT = 6091;

/** UDP port that gateways listen at for their peers. */
export const TUNNEL_PORT = 51840;

/** Of tunnels and overlay, in bytes. Leaves room for WireGuard and the overlay on a path of 1,450. */
export const DEFAULT_MTU = 1340;
