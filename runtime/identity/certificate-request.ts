import { createPublicKey, type KeyObject } from "node:crypto";
import {
  bitString,
  contextTag,
  DerError,
  element,
  expectTag,
  oid,
  readElement,
  readElements,
  readInside,
  sequence,
  set,
  tag,
  unsignedInteger,
  type DerElement,
} from "./der";
import { KeyError, publicKeyDer, readPrivateKey, readPublicKey } from "./key-pair";
import { decodePem, encodePem } from "./pem";
import type { Subject } from "./subject";
import {
  encodeAlternativeNames,
  encodeSubject,
  oids,
  signatureAlgorithm,
  signDer,
  verifyDer,
  type AlternativeNames,
} from "./x509-encoding";

const label = "CERTIFICATE REQUEST";

/** A parsed certificate signing request (PKCS#10). */
export interface CertificateRequest {
  /** Undefined when the subject has none. */
  commonName: string | undefined;
  organizations: string[];
  publicKey: KeyObject;
  /** Whether the request is signed with the key it asks a certificate for. */
  signatureValid: boolean;
}

/** Why a certificate request was refused; the message names what was expected and what was found. */
export class InvalidCertificateRequest extends Error {
  override name = "InvalidCertificateRequest";
}

/**
 * A certificate signing request as PEM (control plane reference 4.3). With an Ed25519 or RSA key, the same key and subject
 * always give the same bytes, which providers rely on: they refuse a request that differs from the one they cached.
 *
 * @param alternativeNames only for serving certificates; identities have none.
 */
export function createCertificateRequest(
  subject: Subject,
  privateKey: string | Uint8Array | KeyObject,
  alternativeNames?: AlternativeNames,
): string {
  const key = readPrivateKey(privateKey);
  const info = sequence(
    unsignedInteger(Buffer.from([0])),
    encodeSubject(subject),
    createPublicKey(key).export({ type: "spki", format: "der" }),
    element(
      contextTag(0, true),
      ...(alternativeNames === undefined ? [] : [extensionRequest(alternativeNames)]),
    ),
  );
  return encodePem(label, sequence(info, signatureAlgorithm(key), bitString(signDer(info, key))));
}

function extensionRequest(names: AlternativeNames): Buffer {
  const extension = sequence(
    oid(oids.subjectAltName),
    element(tag.octetString, encodeAlternativeNames(names)),
  );
  return sequence(oid(oids.extensionRequest), set(sequence(extension)));
}

/**
 * Parses a request.
 *
 * @throws InvalidCertificateRequest when it is not exactly one PEM block holding one PKCS#10 request.
 */
export function parseCertificateRequest(pem: string | Uint8Array): CertificateRequest {
  const block = decodePem(Buffer.from(pem).toString("utf8"));
  if (block === undefined) throw new InvalidCertificateRequest(`certificate request holds no PEM block`);
  if (block.label !== label) {
    throw new InvalidCertificateRequest(`PEM block is labelled "${block.label}", expected "${label}"`);
  }
  if (block.rest !== "") {
    throw new InvalidCertificateRequest(
      `certificate request has ${block.rest.length} characters after its PEM block`,
    );
  }
  try {
    return decode(block.der);
  } catch (cause) {
    if (!(cause instanceof DerError || cause instanceof KeyError)) throw cause;
    throw new InvalidCertificateRequest(`certificate request is not valid PKCS#10: ${cause.message}`, {
      cause,
    });
  }
}

/** The request without PEM armour: what two requests are compared by. */
export function certificateRequestDer(pem: string | Uint8Array): Buffer | undefined {
  return decodePem(Buffer.from(pem).toString("utf8"))?.der;
}

function decode(der: Buffer): CertificateRequest {
  const [info, algorithm, signature, ...more] = readElements(readElement(der, tag.sequence).body);
  const [version, name, spki, extras, ...others] = readInside(info, tag.sequence);
  if (more.length > 0 || others.length > 0) throw new DerError("it has more parts than a request has");
  if (!expectTag(version, tag.integer).body.equals(Buffer.from([0])))
    throw new DerError("its version is not 0");
  // Attributes may be left out, though the standard wants them.
  if (extras !== undefined) expectTag(extras, contextTag(0, true));
  const publicKey = readSpki(expectTag(spki, tag.sequence));
  if (algorithm?.bytes.equals(signatureAlgorithm(publicKey)) !== true)
    throw new DerError("its signature algorithm is not the one of its key");
  const [unused, ...signed] = expectTag(signature, tag.bitString).body;
  if (unused !== 0) throw new DerError("its signature is not of whole bytes");
  return {
    commonName: attributes(name, oids.commonName)[0],
    organizations: attributes(name, oids.organization),
    publicKey,
    signatureValid: verifyDer(expectTag(info, tag.sequence).bytes, Buffer.from(signed), publicKey),
  };
}

function readSpki(spki: DerElement): KeyObject {
  try {
    return readPublicKey(createPublicKey({ key: spki.bytes, format: "der", type: "spki" }));
  } catch (cause) {
    if (cause instanceof KeyError) throw cause;
    throw new DerError("its public key is not readable", { cause });
  }
}

function attributes(name: DerElement | undefined, type: string): string[] {
  const wanted = oid(type);
  return readInside(name, tag.sequence)
    .flatMap((rdn) => readInside(rdn, tag.set))
    .map((attribute) => readElements(expectTag(attribute, tag.sequence).body))
    .filter(([attributeType]) => attributeType?.bytes.equals(wanted) === true)
    .map(([, value, ...more]) => {
      if (more.length > 0) throw new DerError("an attribute of its subject has two values");
      return textOf(value);
    });
}

function textOf(value: DerElement | undefined): string {
  if (value === undefined || !STRINGS.includes(value.tag))
    throw new DerError("an attribute of its subject is no text");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(value.body);
  } catch (cause) {
    throw new DerError("an attribute of its subject is not UTF-8", { cause });
  }
}

/** What the attributes that count here are written as. */
const STRINGS: readonly number[] = [tag.utf8String, tag.printableString, tag.ia5String];

export interface RequestExpectation {
  subject: Subject;
  /** The key that the request must be for; left out where the provider skips the comparison (TolerateNoHandshake). */
  publicKey?: string | Uint8Array | KeyObject;
}

/**
 * A provider's checks of a peer's request, in the order of control plane reference 4.3, the first failure wins; last, that the
 * request is signed with its own key, which the API server would refuse otherwise.
 *
 * @throws InvalidCertificateRequest
 */
export function checkCertificateRequest(
  pem: string | Uint8Array,
  expected: RequestExpectation,
): CertificateRequest {
  const request = parseCertificateRequest(pem);
  const { commonName, organization } = expected.subject;
  if (request.commonName !== commonName) {
    throw new InvalidCertificateRequest(
      `common name of the certificate request is ${quote(request.commonName)}, expected ${quote(commonName)}`,
    );
  }
  if (request.organizations[0] !== organization) {
    throw new InvalidCertificateRequest(
      `organization of the certificate request is ${quote(request.organizations[0])}, expected ${quote(organization)}`,
    );
  }
  if (
    expected.publicKey !== undefined &&
    !publicKeyDer(expected.publicKey).equals(publicKeyDer(request.publicKey))
  ) {
    throw new InvalidCertificateRequest("certificate request is for another public key than the tenant's");
  }
  if (!request.signatureValid) {
    throw new InvalidCertificateRequest("certificate request is not signed with the key it is for");
  }
  return request;
}

function quote(value: string | undefined): string {
  return value === undefined ? "missing" : JSON.stringify(value);
}
