import { createPublicKey, type KeyObject } from "node:crypto";
import {
  bitString,
  contextTag,
  decodePem,
  type DerElement,
  DerError,
  element,
  encodePem,
  expectTag,
  oid,
  readElement,
  readElements,
  readInside,
  readOid,
  sequence,
  set,
  tag,
  unsignedInteger,
} from "./der";
import {
  commonNameOf,
  type DistinguishedName,
  encodeSubject,
  organizationsOf,
  readName,
  type Subject,
} from "./subject";
import {
  type AlternativeNames,
  encodeAlternativeNames,
  type Extension,
  extensionIds,
  readExtensions,
} from "./extensions";
import { KeyError, readPrivateKey, readPublicKey, signatureAlgorithm, signDer, verifyDer } from "./keys";

const label = "CERTIFICATE REQUEST";
/** The attribute that lists the extensions asked for (PKCS#9). */
const extensionRequestId = "1.2.840.113549.1.9.14";

/** A parsed certificate signing request (PKCS#10): what it says, be it harmless or not. Requests of others go through `checkCertificateRequest`. */
export interface CertificateRequest {
  /** DER. */
  der: Buffer;
  subject: DistinguishedName;
  /** As Kubernetes reads the subject, which may say more. Undefined when it has none. */
  commonName: string | undefined;
  organizations: string[];
  publicKey: KeyObject;
  /** Extensions that it asks for. */
  extensions: Extension[];
  /** Object identifiers of what else stands beside its subject and key. */
  otherAttributes: string[];
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
    oid(extensionIds.subjectAltName),
    element(tag.octetString, encodeAlternativeNames(names)),
  );
  return sequence(oid(extensionRequestId), set(sequence(extension)));
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
  if (block.before.trim() !== "") {
    throw new InvalidCertificateRequest(
      `certificate request has ${block.before.length} characters before its PEM block`,
    );
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

/** The request as PEM written by ourselves: nobody reads another request in it than we did. */
export function certificateRequestPem({ der }: CertificateRequest): string {
  return encodePem(label, der);
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
  const publicKey = readSpki(expectTag(spki, tag.sequence));
  if (algorithm?.bytes.equals(signatureAlgorithm(publicKey)) !== true)
    throw new DerError("its signature algorithm is not the one of its key");
  const [unused, ...signed] = expectTag(signature, tag.bitString).body;
  if (unused !== 0) throw new DerError("its signature is not of whole bytes");
  const subject = readName(name);
  return {
    der,
    subject,
    commonName: commonNameOf(subject),
    organizations: organizationsOf(subject),
    publicKey,
    ...readAttributes(extras),
    signatureValid: verifyDer(expectTag(info, tag.sequence).bytes, Buffer.from(signed), publicKey),
  };
}

/** Attributes may be left out, though the standard wants them. */
function readAttributes(
  extras: DerElement | undefined,
): Pick<CertificateRequest, "extensions" | "otherAttributes"> {
  const attributes = extras === undefined ? [] : readInside(extras, contextTag(0, true));
  const read = attributes.map((attribute) => {
    const [type, values, ...more] = readInside(attribute, tag.sequence);
    if (more.length > 0) throw new DerError("an attribute has more parts than one may have");
    return { type: readOid(type), values: readInside(values, tag.set) };
  });
  return {
    extensions: read
      .filter(({ type }) => type === extensionRequestId)
      .flatMap(({ values }) => values.flatMap((list) => readExtensions(list))),
    otherAttributes: read.map(({ type }) => type).filter((type) => type !== extensionRequestId),
  };
}

function readSpki(spki: DerElement): KeyObject {
  let key: KeyObject;
  try {
    key = readPublicKey(createPublicKey({ key: spki.bytes, format: "der", type: "spki" }));
  } catch (cause) {
    if (cause instanceof KeyError) throw cause;
    throw new DerError("its public key is not readable", { cause });
  }
  if (!key.export({ type: "spki", format: "der" }).equals(spki.bytes))
    throw new DerError("its public key is not written in the usual form");
  return key;
}
