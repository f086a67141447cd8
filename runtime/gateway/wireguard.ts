import { isIPv6 } from "node:net";

import type { PublicKey } from "../api";
import { keyOf } from "../kube";

/** One end of a tunnel. */
export interface WireGuardSettings {
  /** Base64 of 32 bytes. */
  privateKey: string;
  /** UDP port that a server listens on; a client takes any. */
  listenPort?: number;
  /** Undefined until the peer's key is known. */
  peer?: {
    publicKey: string;
    /** Where a client finds the server. A server learns the address from what the client sends. */
    endpoint?: { address: string; port: number };
  };
}

/**
 * The configuration for `wg syncconf`, which changes only what differs: a tunnel with an unchanged peer keeps its session and the address that it has learnt.
 * Peers that are not in it are removed. It holds a secret.
 */
export function wireGuardConfiguration({ privateKey, listenPort, peer }: WireGuardSettings): string {
  const lines = ["[Interface]", `PrivateKey = ${keyText(privateKey, "the private key")}`];
  if (listenPort !== undefined) lines.push(`ListenPort = ${listenPort}`);
  if (peer !== undefined) {
    lines.push("", "[Peer]", `PublicKey = ${keyText(peer.publicKey, "the peer's public key")}`);
    // Which addresses belong to the peer is a matter of routes and of address translation (networking reference 1).
    lines.push("AllowedIPs = 0.0.0.0/0");
    if (peer.endpoint !== undefined) {
      lines.push(`Endpoint = ${endpointText(peer.endpoint)}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

/** As `wg` reads and writes it. */
function endpointText({ address, port }: { address: string; port: number }): string {
  return `${isIPv6(address) ? `[${address}]` : address}:${port}`;
}

/**
 * The key of a PublicKey object, as `wg` writes it.
 *
 * @throws Error when it is missing or is not 32 bytes
 */
export function peerKeyOf(object: PublicKey): string {
  return keyText(object.spec.publicKey ?? "", `spec.publicKey of PublicKey ${keyOf(object)}`);
}

/** A key of 32 bytes, in base64 with its padding. The message never shows what was given: it may be a private key. */
function keyText(base64: string, what: string): string {
  const bytes = Buffer.from(base64, "base64");
  if (bytes.length !== 32) {
    throw new Error(`${what} has ${bytes.length} bytes; a WireGuard key has 32, in base64`);
  }
  return bytes.toString("base64");
}

/** A tunnel as the kernel, or wireguard-go, has it. Holds a secret. */
export interface ObservedTunnel {
  privateKey: string;
  /** 0 while it is not bound. */
  listenPort: number;
  peers: ObservedPeer[];
}

interface ObservedPeer {
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

/** Whether a tunnel is what is wanted. The endpoint that a server has learnt and the port that a client was given do not count. */
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
