import nacl from "tweetnacl";
import { KeyError } from "./key-pair";

/** A WireGuard key pair: X25519, both keys as base64 of 32 bytes. */
export interface WireGuardKeyPair {
  privateKey: string;
  publicKey: string;
}

/** A new WireGuard key pair. */
export function generateWireGuardKeyPair(): WireGuardKeyPair {
  const seed = nacl.randomBytes(32);
  return wireGuardKeyPair(seed);
}

/** The WireGuard key pair of 32 random bytes. */
export function wireGuardKeyPair(seed: Uint8Array): WireGuardKeyPair {
  const secret = clamp(seed);
  return {
    privateKey: toBase64(secret),
    publicKey: toBase64(nacl.box.keyPair.fromSecretKey(secret).publicKey),
  };
}

/** The public key of a private one, as `wg pubkey` gives it. */
export function wireGuardPublicKey(privateKey: string): string {
  return wireGuardKeyPair(Buffer.from(privateKey, "base64")).publicKey;
}

/** Clamped like `wg genkey` does: the kernel shows keys in this form, so that comparing with what was set works. */
function clamp(seed: Uint8Array): Uint8Array {
  if (seed.length !== 32) throw new KeyError(`a WireGuard key has 32 bytes, this one ${seed.length}`);
  const key = Uint8Array.from(seed);
  key[0] = (key[0] ?? 0) & 0xf8;
  key[31] = ((key[31] ?? 0) & 0x7f) | 0x40;
  return key;
}

const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
