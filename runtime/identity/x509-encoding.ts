import { sign, verify, type KeyObject } from "node:crypto";
import { isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";
import { contextTag, directoryString, element, oid, sequence, set, tag } from "./der";
import { KeyError } from "./key-pair";
import type { Subject } from "./subject";

/** The parts that certificate requests and certificates have in common. */

export const oids = {
  commonName: "2.5.4.3",
  organization: "2.5.4.10",
  extensionRequest: "1.2.840.113549.1.9.14",
} as const;

/** Names and addresses that a serving certificate is valid for. */
export interface AlternativeNames {
  dns?: readonly string[];
  ip?: readonly string[];
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

/** A distinguished name: O, then CN, each in a SET of its own. An empty organization is left out. */
export function encodeSubject({ commonName, organization }: Subject): Buffer {
  const attribute = (type: string, value: string): Buffer => set(sequence(oid(type), directoryString(value)));
  return sequence(
    ...(organization === "" ? [] : [attribute(oids.organization, organization)]),
    attribute(oids.commonName, commonName),
  );
}

/** The value of a subjectAltName extension. */
export function encodeAlternativeNames({ dns = [], ip = [] }: AlternativeNames): Buffer {
  return sequence(
    ...dns.map((name) => element(contextTag(2, false), Buffer.from(name, "ascii"))),
    ...ip.map((address) => {
      if (!isIPv4(address) && !isIPv6(address)) {
        throw new RangeError(`alternative name ${JSON.stringify(address)} is not an IP address`);
      }
      return element(contextTag(7, false), Buffer.from(ipaddr.parse(address).toByteArray()));
    }),
  );
}
