/** Certificate requests and certificates as no honest peer or signer makes them, written byte by byte. */
import { createPublicKey } from "node:crypto";

import {
  bitString,
  contextTag,
  element,
  encodePem,
  oid,
  sequence,
  set,
  tag,
  unsignedInteger,
} from "../../runtime/identity/der";
import { readPrivateKey, signatureAlgorithm, signDer } from "../../runtime/identity/keys";

export const CN = "2.5.4.3";
export const O = "2.5.4.10";
const EXTENSION_REQUEST = "1.2.840.113549.1.9.14";
const ED25519_SIGNATURE_BYTES = 64;

/** An attribute of a subject; UTF8String unless another tag is given. */
export type Attribute = readonly [type: string, value: string | Buffer, tag?: number];

/** A subject of relative distinguished names, each of one attribute or of several. */
export function subjectOf(...relatives: (Attribute | readonly Attribute[])[]): Buffer {
  return sequence(
    ...relatives.map((relative) => set(...(isOne(relative) ? [relative] : relative).map(encode))),
  );
}

const isOne = (relative: Attribute | readonly Attribute[]): relative is Attribute =>
  typeof relative[0] === "string";

function encode([type, value, stringTag = tag.utf8String]: Attribute): Buffer {
  return sequence(oid(type), element(stringTag, typeof value === "string" ? Buffer.from(value) : value));
}

/** An extension of a request or a certificate. */
export function extension(id: string, value: Buffer, critical = false): Buffer {
  const flag = critical ? [element(tag.boolean, Buffer.from([0xff]))] : [];
  return sequence(oid(id), ...flag, element(tag.octetString, value));
}

export const extensions = {
  uri: extension("2.5.29.17", sequence(element(contextTag(6, false), Buffer.from("spiffe://milan/admin")))),
  dns: extension("2.5.29.17", sequence(element(contextTag(2, false), Buffer.from("kubernetes.default.svc")))),
  address: extension("2.5.29.17", sequence(element(contextTag(7, false), Buffer.from([10, 0, 0, 7])))),
  authority: extension("2.5.29.19", sequence(element(tag.boolean, Buffer.from([0xff]))), true),
  noAuthority: extension("2.5.29.19", sequence(), true),
  signsCertificates: extension("2.5.29.15", element(tag.bitString, Buffer.from([2, 0x84])), true),
  digitalSignature: extension("2.5.29.15", element(tag.bitString, Buffer.from([7, 0x80])), true),
  client: extension("2.5.29.37", sequence(oid("1.3.6.1.5.5.7.3.2"))),
  server: extension("2.5.29.37", sequence(oid("1.3.6.1.5.5.7.3.1"))),
  clientAndServer: extension("2.5.29.37", sequence(oid("1.3.6.1.5.5.7.3.2"), oid("1.3.6.1.5.5.7.3.1"))),
  anyPurpose: extension("2.5.29.37", sequence(oid("2.5.29.37.0"))),
  unknown: extension("1.3.6.1.4.1.57683.1", element(tag.null)),
  unknownCritical: extension("1.3.6.1.4.1.57683.1", element(tag.null), true),
} as const;

/** The attribute of a request by which it asks for extensions. */
export function asksFor(...wanted: Buffer[]): Buffer {
  return sequence(oid(EXTENSION_REQUEST), set(sequence(...wanted)));
}

export interface HostileRequest {
  subject: Buffer;
  /** Attributes beside subject and key, such as `asksFor(…)`. */
  attributes?: readonly Buffer[];
  /** Who signs it, where not the key that it is for. */
  signer?: string;
}

/** A request for a key, PEM. */
export function hostileRequest(
  privateKey: string,
  { subject, attributes = [], signer = privateKey }: HostileRequest,
): string {
  const key = readPrivateKey(signer);
  const info = sequence(
    unsignedInteger(Buffer.from([0])),
    subject,
    createPublicKey(privateKey).export({ type: "spki", format: "der" }),
    element(contextTag(0, true), ...attributes),
  );
  const der = sequence(info, signatureAlgorithm(key), bitString(signDer(info, key)));
  return encodePem("CERTIFICATE REQUEST", der);
}

/** Two requests in one text: readers that know headers of PEM find the first, others the second. */
export function twoReadings(first: string, second: string): string {
  return `${first.replace("-----\n", "-----\nProc-Type: 4,CLEAR\n\n")}${second}`;
}

export interface HostileCertificate {
  subject: Buffer;
  /** PEM. */
  publicKey: string;
  extensions: readonly Buffer[];
  /** Dates as UTCTime writes them, or GeneralizedTime where they have a year of four digits. */
  validity?: readonly [from: string, to: string];
}

/** A certificate that nobody's authority signed: who trusts a signer finds out nothing by its signature. */
export function hostileCertificate(wanted: HostileCertificate): string {
  const { subject, publicKey, validity = ["260101000000Z", "360101000000Z"] } = wanted;
  const algorithm = sequence(oid("1.3.101.112"));
  const time = (text: string) =>
    element(text.length === 13 ? tag.utcTime : tag.generalizedTime, Buffer.from(text));
  const body = sequence(
    element(contextTag(0, true), unsignedInteger(Buffer.from([2]))),
    unsignedInteger(Buffer.from([7])),
    algorithm,
    subjectOf([CN, "signer of milan"]),
    sequence(...validity.map(time)),
    subject,
    createPublicKey(publicKey).export({ type: "spki", format: "der" }),
    element(contextTag(3, true), sequence(...wanted.extensions)),
  );
  const signature = bitString(Buffer.alloc(ED25519_SIGNATURE_BYTES));
  return encodePem("CERTIFICATE", sequence(body, algorithm, signature));
}
