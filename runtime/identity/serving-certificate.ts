import { createHash, createPublicKey, generateKeyPairSync, randomBytes, X509Certificate } from "node:crypto";

import { CertificateError } from "./certificate";
import {
  bitString,
  contextTag,
  element,
  encodePem,
  expectTag,
  oid,
  readElement,
  readInside,
  sequence,
  tag,
  unsignedInteger,
} from "./der";
import { encodeSubject, type Subject } from "./subject";
import { type AlternativeNames, encodeAlternativeNames, extensionIds, keyPurposes } from "./extensions";
import { type KeyPair, readPrivateKey, signatureAlgorithm, signDer } from "./keys";

/** A certificate with the key it is for, both PEM (the key PKCS#8). */
export interface KeyedCertificate {
  certificate: string;
  privateKey: string;
}

interface Validity {
  notBefore: Date;
  notAfter: Date;
}

/** Bits of a key usage extension, with the number of bits of the byte that are unused. */
const usage = { certificateAndListSigning: [1, 0x06], digitalSignature: [7, 0x80] } as const;

/** A certificate authority of our own, on a new ECDSA key (P-256). */
export function createCertificateAuthority(subject: Subject, validity: Validity): KeyedCertificate {
  const keys = newKeyPair();
  const spki = spkiOf(keys.publicKey);
  return {
    privateKey: keys.privateKey,
    certificate: sign(keys.privateKey, {
      issuer: encodeSubject(subject),
      subject: encodeSubject(subject),
      validity,
      spki,
      extensions: [
        extension(extensionIds.basicConstraints, true, sequence(TRUE)),
        extension(extensionIds.keyUsage, true, bits(usage.certificateAndListSigning)),
        extension(extensionIds.subjectKeyIdentifier, false, element(tag.octetString, keyIdentifier(spki))),
      ],
    }),
  };
}

/**
 * A server's certificate on a new ECDSA key (P-256), signed by an authority.
 *
 * @throws CertificateError when the authority's key does not belong to its certificate
 */
export function issueServingCertificate(
  authority: KeyedCertificate,
  subject: Subject,
  names: AlternativeNames,
  validity: Validity,
): KeyedCertificate {
  const issuer = new X509Certificate(authority.certificate);
  if (!issuer.checkPrivateKey(readPrivateKey(authority.privateKey)))
    throw new CertificateError("the authority's private key does not belong to its certificate");
  const keys = newKeyPair();
  const authorityId = keyIdentifier(issuer.publicKey.export({ type: "spki", format: "der" }));
  return {
    privateKey: keys.privateKey,
    certificate: sign(authority.privateKey, {
      issuer: subjectOf(issuer),
      subject: encodeSubject(subject),
      validity,
      spki: spkiOf(keys.publicKey),
      extensions: [
        extension(extensionIds.basicConstraints, true, sequence()),
        extension(extensionIds.keyUsage, true, bits(usage.digitalSignature)),
        extension(extensionIds.extendedKeyUsage, false, sequence(oid(keyPurposes.serverAuthentication))),
        extension(
          extensionIds.authorityKeyIdentifier,
          false,
          sequence(element(contextTag(0, false), authorityId)),
        ),
        extension(extensionIds.subjectAltName, false, encodeAlternativeNames(names)),
      ],
    }),
  };
}

function newKeyPair(): KeyPair {
  return generateKeyPairSync("ec", {
    namedCurve: "prime256v1",
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
}

interface Contents {
  /** Distinguished names, DER. */
  issuer: Buffer;
  subject: Buffer;
  validity: Validity;
  spki: Buffer;
  extensions: Buffer[];
}

function sign(privateKey: string, contents: Contents): string {
  const key = readPrivateKey(privateKey);
  const { issuer, subject, validity, spki, extensions } = contents;
  const body = sequence(
    element(contextTag(0, true), unsignedInteger(Buffer.from([2]))), // version 3
    unsignedInteger(Buffer.concat([Buffer.from([1]), randomBytes(15)])), // never zero, never negative
    signatureAlgorithm(key),
    issuer,
    sequence(time(validity.notBefore), time(validity.notAfter)),
    subject,
    spki,
    element(contextTag(3, true), sequence(...extensions)),
  );
  return encodePem("CERTIFICATE", sequence(body, signatureAlgorithm(key), bitString(signDer(body, key))));
}

const TRUE = element(tag.boolean, Buffer.from([0xff]));

function extension(id: string, critical: boolean, value: Buffer): Buffer {
  return sequence(oid(id), ...(critical ? [TRUE] : []), element(tag.octetString, value));
}

function bits([unused, byte]: readonly [number, number]): Buffer {
  return element(tag.bitString, Buffer.from([unused, byte]));
}

/** UTCTime until 2049, GeneralizedTime from then on, as RFC 5280 wants it. */
function time(date: Date): Buffer {
  const digits = date.toISOString().replace(/[-:T]/g, "").slice(0, 14);
  return date.getUTCFullYear() < 2050
    ? element(tag.utcTime, Buffer.from(`${digits.slice(2)}Z`))
    : element(tag.generalizedTime, Buffer.from(`${digits}Z`));
}

function spkiOf(publicKey: string): Buffer {
  return createPublicKey(publicKey).export({ type: "spki", format: "der" });
}

function keyIdentifier(spki: Buffer): Buffer {
  return createHash("sha256").update(spki).digest().subarray(0, 20);
}

/** The subject of an issuer exactly as it stands in its certificate: verifiers compare the bytes. */
function subjectOf(certificate: X509Certificate): Buffer {
  const [body] = readInside(readElement(certificate.raw, tag.sequence), tag.sequence);
  const [, , , , , subject] = readInside(body, tag.sequence);
  return expectTag(subject, tag.sequence).bytes;
}
