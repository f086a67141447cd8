import { Name } from "../api";

/** What two peered gateways agree on: part of the wire contract (networking reference 1, 2). */

/** Which end of a tunnel a gateway is: the server listens, the client dials. */
export type TunnelEnd = "server" | "client";

export const TUNNEL_PORT = 51840;
/** Bytes. Leaves room for WireGuard and the overlay on a path of 1,450. */
export const DEFAULT_MTU = 1340;

/** The interface of a gateway's tunnel; a gateway with several ports has several. */
export function tunnelInterface(index = 0): string {
  return index === 0 ? Name.tunnelInterface : `${Name.tunnelInterface}${index}`;
}

/** The address of an end within its tunnel. */
export function tunnelAddress(end: TunnelEnd, index = 0): string {
  return `169.254.18.${4 * index + (end === "server" ? 1 : 2)}`;
}

export const TUNNEL_PREFIX_LENGTH = 30;

export function otherEnd(end: TunnelEnd): TunnelEnd {
  return end === "server" ? "client" : "server";
}
