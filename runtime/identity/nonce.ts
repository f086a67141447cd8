import { randomBytes, sign, verify, type KeyObject } from "node:crypto";
import { readPrivateKey, readPublicKey } from "./keys";

/** A new nonce: the base64 text of 64 random bytes (88 characters). The text itself is what gets signed. */
export function generateNonce(): string {
  return randomBytes(64).toString("base64");
}

/**
 * Signs the text of a nonce (control plane reference 4.2): pure Ed25519, or SHA-256 with RSA PKCS#1 v1.5 or ECDSA in DER.
 *
 * @param nonce the base64 text, as found in the decoded `data.nonce` of the Secret.
 */
export function signNonce(nonce: string | Uint8Array, privateKey: string | Uint8Array | KeyObject): Buffer {
  const key = readPrivateKey(privateKey);
  return sign(digestOf(key), Buffer.from(nonce), key);
}

/** Whether the signature of a nonce's text was made with the private half of the key. */
export function verifyNonce(
  nonce: string | Uint8Array,
  signature: Uint8Array,
  publicKey: string | Uint8Array | KeyObject,
): boolean {
  const key = readPublicKey(publicKey);
  return verify(digestOf(key), Buffer.from(nonce), key, signature);
}

function digestOf(key: KeyObject): "sha256" | null {
  return key.asymmetricKeyType === "ed25519" ? null : "sha256";
}
