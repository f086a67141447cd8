/**
 * The checks of a peer's certificate request before it is signed, and of the issued certificate before it is handed out. Both must contain exactly what is
 * expected. Kubernetes takes the last common name as the user and every organization as a group, so an additional one makes another user.
 */
import type { KeyObject } from "node:crypto";
import ipaddr from "ipaddr.js";
import { type Certificate, certificateChain, CertificateError, parseCertificate } from "./certificate";
import {
  type CertificateRequest,
  InvalidCertificateRequest,
  parseCertificateRequest,
} from "./certificate-request";
import { DerError } from "./der";
import { attributeTypes, type DistinguishedName, type NameAttribute, type Subject } from "./subject";
import {
  type Extension,
  extensionIds,
  isAuthority,
  keyPurposes,
  readAlternativeNames,
  readKeyPurposes,
  readKeyUsage,
} from "./extensions";
import { publicKeyDer, samePublicKey } from "./keys";

export interface RequestExpectation {
  subject: Subject;
  /** The key that the request must be for; left out where the provider skips the comparison (TolerateNoHandshake). */
  publicKey?: string | Uint8Array | KeyObject;
  /** Addresses that it must ask for, in any number: servers' requests only. */
  addresses?: "any";
}

export interface CertificateExpectation {
  subject: Subject;
  publicKey: string | Uint8Array | KeyObject;
  /** What the certificate is for, and for nothing else. */
  purpose: "client" | "server";
  /** Addresses of a server; a client has none. */
  addresses?: readonly string[];
  /** When it must not have expired yet; left out where whoever asks renews it then. */
  now?: Date;
}

/** Some clusters configure their signers for a hundred years. */
const LONGEST_MS = 36_525 * 24 * 3_600_000;
const CURVES: readonly (string | undefined)[] = ["prime256v1", "secp384r1", "secp521r1"];
/** Shorter ones are broken, longer ones no TLS stack of Kubernetes takes. */
const RSA_BITS = { min: 2048, max: 8192 } as const;
/** digitalSignature and keyEncipherment, as requests to Kubernetes ask. */
const USAGES: readonly number[] = [0, 2];

/**
 * The checks of a peer's request, in the order of control plane reference 4.3, the first failure wins; last, that the request is signed with its
 * own key, which the API server would refuse otherwise.
 *
 * @throws InvalidCertificateRequest
 */
export function checkCertificateRequest(
  pem: string | Uint8Array,
  expected: RequestExpectation,
): CertificateRequest {
  const request = parseCertificateRequest(pem);
  const { publicKey, subject, addresses } = expected;
  const fault =
    subjectFault(request.subject, subject, "the certificate request") ??
    extrasFault(request, addresses) ??
    keyFault(request.publicKey) ??
    (publicKey !== undefined && !samePublicKey(publicKey, request.publicKey)
      ? "certificate request is for another public key than the tenant's"
      : undefined) ??
    (request.signatureValid ? undefined : "certificate request is not signed with the key it is for");
  if (fault !== undefined) throw new InvalidCertificateRequest(fault);
  return request;
}

/**
 * The checks of a certificate that a signer answered with, before anybody gets it.
 *
 * @returns the certificates as PEM, the one asked for first
 * @throws CertificateError
 */
export function checkCertificate(pem: string | Uint8Array, expected: CertificateExpectation): string {
  const chain = certificateChain(pem);
  const certificate = parseCertificate(chain);
  const fault =
    subjectFault(certificate.subject, expected.subject, "the certificate") ??
    (publicKeyDer(certificate.publicKey).equals(publicKeyDer(expected.publicKey))
      ? undefined
      : "certificate is for another public key than its request") ??
    readable("certificate", () => issuedFault(certificate.extensions, expected)) ??
    validityFault(certificate, expected.now);
  if (fault !== undefined) throw new CertificateError(fault);
  return chain;
}

/** What a subject says beyond its one common name and its one organization, or instead of them. */
function subjectFault(name: DistinguishedName, expected: Subject, whose: string): string | undefined {
  const attributes = name.flat();
  const stated = (type: string) => attributes.filter((attribute) => attribute.type === type);
  const other = attributes.find(
    ({ type }) => type !== attributeTypes.commonName && type !== attributeTypes.organization,
  );
  const joined = name.find((relative) => relative.length !== 1);
  return (
    soleFault(stated(attributeTypes.commonName), expected.commonName, `common name of ${whose}`) ??
    soleFault(stated(attributeTypes.organization), expected.organization, `organization of ${whose}`) ??
    (other &&
      `subject of ${whose} has attribute ${other.type}, expected common name and organization alone`) ??
    (joined &&
      `subject of ${whose} has ${joined.length} attributes in one relative distinguished name, expected one in each`)
  );
}

function soleFault(found: readonly NameAttribute[], expected: string, what: string): string | undefined {
  if (found.length === 1 && found[0]?.value === expected) return undefined;
  const values = found.slice(0, 5).map(({ value }) => (value === undefined ? "not text" : quote(value)));
  if (found.length > values.length) values.push("more");
  const is = values.length === 0 ? "missing" : values.join(" and ");
  return `${what} is ${is}, expected ${quote(expected)}${found.length > 1 ? " alone" : ""}`;
}

/** Names may be of any length, and come from strangers. */
function quote(value: string): string {
  return JSON.stringify(value.length > 100 ? `${value.slice(0, 100)}…` : value);
}

function extrasFault(
  { extensions, otherAttributes }: CertificateRequest,
  addresses: RequestExpectation["addresses"],
): string | undefined {
  const what = "certificate request";
  const [attribute] = otherAttributes;
  if (attribute !== undefined) return `${what} has attribute ${attribute}, expected none`;
  const unasked = extensions.find(({ id }) => addresses === undefined || id !== extensionIds.subjectAltName);
  if (unasked !== undefined)
    return `${what} asks for extension ${described(unasked)}, expected ${addresses === undefined ? "none" : "subjectAltName alone"}`;
  if (addresses === undefined) return undefined;
  const [names, second] = extensions;
  if (names === undefined || second !== undefined)
    return `${what} asks for subjectAltName ${extensions.length} times, expected once`;
  return readable(what, () => {
    const found = readAlternativeNames(names.value);
    const stranger = found.find(({ kind }) => kind !== "IP address");
    if (stranger !== undefined)
      return `${what} asks for alternative name of kind ${stranger.kind}, expected IP address`;
    return found.length === 0 ? `${what} asks for no IP address, expected one` : undefined;
  });
}

function keyFault(key: KeyObject): string | undefined {
  const { modulusLength = 0, namedCurve } = key.asymmetricKeyDetails ?? {};
  const fault = (is: string, expected: string) =>
    `public key of the certificate request is ${is}, expected ${expected}`;
  switch (key.asymmetricKeyType) {
    case "ed25519":
      return undefined;
    case "rsa":
      return modulusLength >= RSA_BITS.min && modulusLength <= RSA_BITS.max
        ? undefined
        : fault(`RSA of ${modulusLength} bits`, `${RSA_BITS.min} to ${RSA_BITS.max}`);
    default:
      return CURVES.includes(namedCurve)
        ? undefined
        : fault(`ECDSA on curve ${namedCurve ?? "unknown"}`, `one of ${CURVES.join(", ")}`);
  }
}

/** What a certificate allows beyond what was requested. */
function issuedFault(extensions: readonly Extension[], expected: CertificateExpectation): string | undefined {
  const twice = extensions.find(({ id }, index) => extensions.findIndex((each) => each.id === id) !== index);
  if (twice !== undefined) return `certificate has extension ${described(twice)} twice, expected once`;
  const valueOf = (id: string) => extensions.find((extension) => extension.id === id)?.value;
  const constraints = valueOf(extensionIds.basicConstraints);
  if (constraints !== undefined && isAuthority(constraints))
    return "certificate is a certificate authority's, expected one that signs no others";
  const usage = valueOf(extensionIds.keyUsage);
  const excess = usage && readKeyUsage(usage).find((bit) => !USAGES.includes(bit));
  if (excess !== undefined)
    return `certificate has bit ${excess} of keyUsage, expected digitalSignature and keyEncipherment at most`;
  const purpose = keyPurposes[`${expected.purpose}Authentication`];
  const list = valueOf(extensionIds.extendedKeyUsage);
  const purposes = list === undefined ? [] : readKeyPurposes(list);
  if (purposes.length !== 1 || purposes[0] !== purpose)
    return `certificate is for ${purposes.join(", ") || "no purpose"}, expected ${expected.purpose} authentication alone (${purpose})`;
  const known: readonly string[] = Object.values(extensionIds);
  const unknown = extensions.find(({ id, critical }) => critical && !known.includes(id));
  if (unknown !== undefined)
    return `certificate has critical extension ${unknown.id}, which nobody asked for`;
  return addressesFault(valueOf(extensionIds.subjectAltName), expected.addresses ?? []);
}

function addressesFault(names: Buffer | undefined, expected: readonly string[]): string | undefined {
  const found = (names === undefined ? [] : readAlternativeNames(names)).map(({ kind, value }) =>
    kind === "IP address" ? addressOf(value) : kind,
  );
  const wanted = expected.map((address) => ipaddr.parse(address).toString());
  if (JSON.stringify([...found].sort()) === JSON.stringify([...wanted].sort())) return undefined;
  const listed = (values: readonly string[]) => values.slice(0, 5).join(", ") || "none";
  return `certificate has alternative names ${listed(found)}, expected ${listed(wanted)}`;
}

function addressOf(bytes: Buffer): string {
  return bytes.length === 4 || bytes.length === 16
    ? ipaddr.fromByteArray([...bytes]).toString()
    : `IP address of ${bytes.length} bytes`;
}

function validityFault({ notBefore, notAfter }: Certificate, now: Date | undefined): string | undefined {
  const end = notAfter.toISOString();
  if (notAfter.getTime() - notBefore.getTime() > LONGEST_MS)
    return `certificate is valid from ${notBefore.toISOString()} to ${end}, expected a hundred years at most`;
  if (now !== undefined && notAfter.getTime() <= now.getTime()) return `certificate expired at ${end}`;
  return undefined;
}

function described({ id }: Extension): string {
  const name = Object.entries(extensionIds).find(([, known]) => known === id)?.[0];
  return name === undefined ? id : `${name} (${id})`;
}

function readable(what: string, look: () => string | undefined): string | undefined {
  try {
    return look();
  } catch (error) {
    if (error instanceof DerError) return `${what} has an extension that is not readable: ${error.message}`;
    throw error;
  }
}
