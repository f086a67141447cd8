import type { KeyObject } from "node:crypto";

import { isRecord } from "../api/invalid-object";
import {
  checkCertificateRequest,
  controlPlaneSubject,
  InvalidCertificateRequest,
  KeyError,
  parseCertificateRequest,
  readPublicKey,
} from "../identity";
import { DerError, readElement, readInside, tag } from "../identity/der";
import type { AdmittedObject } from "./admission-review";
import type { ValidationResult } from "./fault-verdict";

const ED25519_SIGNATURE = 64;
/** Of the shortest RSA key that anybody still takes, 1024 bits. */
const SHORTEST_RSA_SIGNATURE = 128;

/**
 * What a consumer proves itself by, as far as it can be judged without the nonce: no key, request or signature of any kind is a fault, whatever
 * the handshake says later, and a request for anybody else than that consumer. Fields that are absent or empty come later. No sentence quotes a key or a
 * signature.
 *
 * @see control plane reference 2.3, 4.1 to 4.3
 */
export function validateCredentials({ raw }: AdmittedObject): ValidationResult {
  const spec = isRecord(raw.spec) ? raw.spec : {};
  const faults: string[] = [];
  const key = keyOrFault(bytesOf(spec.publicKey));
  if (typeof key === "string") faults.push(`spec.publicKey: ${key}`);
  const request = requestFault(bytesOf(spec.csr), spec.clusterID);
  if (request !== undefined)
    faults.push(
      `spec.csr: ${request}; give the base64 of the PEM block CERTIFICATE REQUEST that the consumer made with its key, or leave the field out until it is there`,
    );
  const signature = bytesOf(spec.signature);
  if (signature !== undefined && !canBeSignature(signature, typeof key === "string" ? undefined : key)) {
    const type = typeof key === "object" ? "the type that spec.publicKey has" : "type Ed25519, RSA or ECDSA";
    faults.push(
      `spec.signature: its ${signature.length} bytes are no signature by a key of ${type}; give the base64 of the nonce signed with the consumer's key, or leave the field out until it is there`,
    );
  }
  return { faults, warnings: [] };
}

function bytesOf(value: unknown): Buffer | undefined {
  return typeof value === "string" && value !== "" ? Buffer.from(value, "base64") : undefined;
}

function keyOrFault(bytes: Buffer | undefined): KeyObject | string | undefined {
  if (bytes === undefined) return undefined;
  // Readers derive the public half of it, and would hide that the secret one is out.
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(bytes.toString("latin1")))
    return "holds a private key, which must never leave its cluster; give the public one, and renew that pair";
  try {
    return readPublicKey(bytes);
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    return `${error.message}; give the base64 of the consumer's key of type Ed25519, RSA or ECDSA, or leave the field out until it is there`;
  }
}

function requestFault(bytes: Buffer | undefined, clusterID: unknown): string | undefined {
  if (bytes === undefined) return undefined;
  try {
    if (typeof clusterID !== "string" || clusterID === "") parseCertificateRequest(bytes);
    else checkCertificateRequest(bytes, { subject: controlPlaneSubject(clusterID) });
    return undefined;
  } catch (error) {
    if (error instanceof InvalidCertificateRequest) return error.message;
    throw error;
  }
}

/** Without a key to go by, whatever one of the types may look like. */
function canBeSignature(signature: Buffer, key: KeyObject | undefined): boolean {
  switch (key?.asymmetricKeyType) {
    case "ed25519":
      return signature.length === ED25519_SIGNATURE;
    case "rsa":
      return signature.length === Math.ceil((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8);
    case "ec":
      return isPairOfIntegers(signature);
    default:
      return (
        signature.length === ED25519_SIGNATURE ||
        signature.length >= SHORTEST_RSA_SIGNATURE ||
        isPairOfIntegers(signature)
      );
  }
}

/** How ECDSA writes a signature (RFC 3279, section 2.2.3). */
function isPairOfIntegers(signature: Buffer): boolean {
  try {
    const parts = readInside(readElement(signature, tag.sequence), tag.sequence);
    return parts.length === 2 && parts.every((part) => part.tag === tag.integer);
  } catch (error) {
    if (error instanceof DerError) return false;
    throw error;
  }
}
