import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  KeyObject,
  sign,
  verify,
} from "node:crypto";
import nacl from "tweetnacl";
import { element, oid, sequence, tag } from "./der";

/** A cluster's key pair as it stands in the Secret `authentication-keys` (control plane reference 4.1). */
export interface KeyPair {
  /** PKCS#8 PEM. */
  privateKey: string;
  /** SPKI PEM. */
  publicKey: string;
}

export type KeyType = "ed25519" | "rsa";

/** A key that cannot be read, or of a type that has no place here. */
export class KeyError extends Error {
  override name = "KeyError";
}

const supported = ["ed25519", "rsa", "ec"];
const spkiOfRawEd25519 = Buffer.from("302a300506032b6570032100", "hex");
const pkcs8OfEd25519Seed = Buffer.from("302e020100300506032b657004220420", "hex");

/** A new key pair. Ed25519 unless the TLS stack of the peers asks for RSA (then 2048 bits). */
export function generateKeyPair(type: KeyType = "ed25519"): KeyPair {
  if (type === "ed25519") return ed25519KeyPair(nacl.sign.keyPair().secretKey.subarray(0, 32));
  return generateKeyPairSync("rsa", {
    modulusLength: 2048,
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
}

/** The Ed25519 key pair of a 32-byte seed. */
export function ed25519KeyPair(seed: Uint8Array): KeyPair {
  if (seed.length !== 32) throw new KeyError(`an Ed25519 seed has 32 bytes, this one ${seed.length}`);
  const privateKey = createPrivateKey({
    key: Buffer.concat([pkcs8OfEd25519Seed, seed]),
    format: "der",
    type: "pkcs8",
  });
  return { privateKey: pem(privateKey), publicKey: publicKeyOf(privateKey) };
}

/**
 * Reads a private key: PEM of PKCS#8, PKCS#1 or SEC1, of type Ed25519, RSA or ECDSA.
 *
 * @throws KeyError when it is none of these. The message never holds key material.
 */
export function readPrivateKey(key: string | Uint8Array | KeyObject): KeyObject {
  if (key instanceof KeyObject) return checkType(key, "private");
  let read: KeyObject;
  try {
    read = createPrivateKey({ key: Buffer.from(key), format: "pem" });
  } catch {
    // The cause is left out on purpose: it may quote the input.
    throw new KeyError("private key is not readable: expected a PEM block `PRIVATE KEY` (PKCS#8)");
  }
  return checkType(read, "private");
}

/**
 * Reads a public key: SPKI PEM of type Ed25519, RSA or ECDSA, or the 32 raw bytes of an Ed25519 key that peers
 * before 1.0.2 send (control plane reference 2.3).
 */
export function readPublicKey(key: string | Uint8Array | KeyObject): KeyObject {
  if (key instanceof KeyObject) return checkType(key, "public");
  try {
    if (typeof key !== "string" && key.length === 32) {
      return createPublicKey({ key: Buffer.concat([spkiOfRawEd25519, key]), format: "der", type: "spki" });
    }
    return checkType(createPublicKey({ key: Buffer.from(key), format: "pem" }), "public");
  } catch (cause) {
    if (cause instanceof KeyError) throw cause;
    throw new KeyError(
      "public key is not readable: expected a PEM block `PUBLIC KEY` (SPKI) or the 32 raw bytes of an Ed25519 key",
      { cause },
    );
  }
}

/** The SPKI PEM of the public half of a private key. */
export function publicKeyOf(privateKey: string | Uint8Array | KeyObject): string {
  return pem(createPublicKey(readPrivateKey(privateKey)));
}

/** The SPKI DER of a public key: what two public keys are compared by. */
export function publicKeyDer(key: string | Uint8Array | KeyObject): Buffer {
  return readPublicKey(key).export({ type: "spki", format: "der" });
}

/** What a public key is recognised by: the SHA-256 of its SPKI, in hexadecimal. */
export function publicKeyFingerprint(key: string | Uint8Array | KeyObject): string {
  return createHash("sha256").update(publicKeyDer(key)).digest("hex");
}

/** Whether two public keys are the same one, in whatever form. */
export function samePublicKey(
  a: string | Uint8Array | KeyObject,
  b: string | Uint8Array | KeyObject,
): boolean {
  return publicKeyDer(a).equals(publicKeyDer(b));
}

function pem(key: KeyObject): string {
  return key.export({ type: key.type === "private" ? "pkcs8" : "spki", format: "pem" }).toString();
}

function checkType(key: KeyObject, expected: "private" | "public"): KeyObject {
  if (key.type !== expected) throw new KeyError(`expected a ${expected} key, found a ${key.type} one`);
  const type = key.asymmetricKeyType ?? "unknown";
  if (!supported.includes(type)) {
    throw new KeyError(`${expected} key is of type ${type}: Ed25519, RSA and ECDSA are supported`);
  }
  return key;
}

interface SignatureScheme {
  /** Undefined: the algorithm hashes by itself. */
  digest: string | null;
  algorithm: Buffer;
}

const ecdsa: Record<string, SignatureScheme> = {
  secp224r1: { digest: "sha256", algorithm: sequence(oid("1.2.840.10045.4.3.2")) },
  prime256v1: { digest: "sha256", algorithm: sequence(oid("1.2.840.10045.4.3.2")) },
  secp384r1: { digest: "sha384", algorithm: sequence(oid("1.2.840.10045.4.3.3")) },
  secp521r1: { digest: "sha512", algorithm: sequence(oid("1.2.840.10045.4.3.4")) },
};

function schemeOf(key: KeyObject): SignatureScheme {
  switch (key.asymmetricKeyType) {
    case "ed25519":
      return { digest: null, algorithm: sequence(oid("1.3.101.112")) };
    case "rsa":
      return { digest: "sha256", algorithm: sequence(oid("1.2.840.113549.1.1.11"), element(tag.null)) };
    default: {
      const curve = key.asymmetricKeyDetails?.namedCurve ?? "unknown";
      const scheme = ecdsa[curve];
      if (scheme === undefined) throw new KeyError(`no signature scheme for a key on curve ${curve}`);
      return scheme;
    }
  }
}

/** The algorithm identifier that a signature by this key carries. */
export const signatureAlgorithm = (key: KeyObject): Buffer => schemeOf(key).algorithm;

/** Signs with the scheme that belongs to the key: Ed25519, SHA256-RSA, or ECDSA with the hash of the curve's size. */
export const signDer = (message: Uint8Array, key: KeyObject): Buffer =>
  sign(schemeOf(key).digest, message, key);

export const verifyDer = (message: Uint8Array, signature: Uint8Array, key: KeyObject): boolean =>
  verify(schemeOf(key).digest, message, key, signature);

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
