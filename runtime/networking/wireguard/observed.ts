import { endpointText, type WireGuardSettings } from "./configuration";

/** A tunnel as the kernel, or wireguard-go, has it. Holds a secret. */
export interface ObservedTunnel {
  privateKey: string;
  /** 0 while it is not bound. */
  listenPort: number;
  peers: ObservedPeer[];
}

export interface ObservedPeer {
  publicKey: string;
  /** `address:port`; undefined until it is known. */
  endpoint?: string;
  allowedIps: string[];
  /** Seconds since 1970; undefined before the first one. */
  handshakeAt?: number;
  receivedBytes: number;
  sentBytes: number;
}

/**
 * Reads `wg show <interface> dump`.
 *
 * @throws Error where it is none; the text is not told, as it holds the private key
 */
export function parseDump(text: string): ObservedTunnel {
  const [first = "", ...others] = text.split("\n").filter((line) => line !== "");
  const own = first.split("\t");
  const [privateKey = "", , listenPort = ""] = own;
  if (own.length !== 4) throw new Error("the dump of the tunnel cannot be read");
  return {
    privateKey: given(privateKey) ?? "",
    listenPort: Number(listenPort) || 0,
    peers: others.map((line): ObservedPeer => {
      const [publicKey = "", , endpoint = "", allowed = "", handshake = "", received = "", sent = ""] =
        line.split("\t");
      const handshakeAt = Number(handshake) || 0;
      return {
        publicKey,
        ...(given(endpoint) !== undefined && { endpoint }),
        allowedIps: (given(allowed) ?? "").split(",").filter((cidr) => cidr !== ""),
        ...(handshakeAt > 0 && { handshakeAt }),
        receivedBytes: Number(received) || 0,
        sentBytes: Number(sent) || 0,
      };
    }),
  };
}

/** Whether a tunnel is what is wanted. The address that a server has learnt is its own affair, and so is the port that a client was given. */
export function isTunnelInPlace(wanted: WireGuardSettings, observed: ObservedTunnel): boolean {
  const { privateKey, listenPort, peer } = wanted;
  if (observed.privateKey !== privateKey) return false;
  if (listenPort !== undefined && observed.listenPort !== listenPort) return false;
  if (peer === undefined) return observed.peers.length === 0;
  const [present, ...more] = observed.peers;
  return (
    more.length === 0 &&
    present?.publicKey === peer.publicKey &&
    present.allowedIps.join() === "0.0.0.0/0" &&
    (peer.endpoint === undefined || present.endpoint === endpointText(peer.endpoint))
  );
}

function given(text: string): string | undefined {
  return text === "(none)" || text === "" ? undefined : text;
}
