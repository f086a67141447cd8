import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { isDeepStrictEqual } from "node:util";
import { Label, LabelValue } from "../api";
import { parseCertificate, renewal } from "../identity/certificate";
import { decodePem, encodePem } from "../identity/der";
import { readPrivateKey } from "../identity/keys";
import {
  createCertificateAuthority,
  issueServingCertificate,
  type KeyedCertificate,
} from "../identity/serving-certificate";
import type { PatchOperation } from "./admission-review";

/** What the webhook's Secret holds, decoded; upstream writes the first three. */
export interface CertificateData {
  /** The authorities that clients trust: the one in use first, then those before it. */
  ca?: string;
  "tls.crt"?: string;
  "tls.key"?: string;
  /** Key of the first authority. Missing where upstream made the Secret. */
  "ca.key"?: string;
}

/** What the webhook serves with. */
export type ServingCertificates = Required<Pick<CertificateData, "ca" | "tls.crt" | "tls.key">>;

const DAY_MS = 24 * 3600 * 1000;
const ORGANIZATION = "liqo.io";
/** Clocks of API servers may lag. */
const BACKDATED_MS = 3600 * 1000;
const AUTHORITY_LIFETIME_MS = 10 * 365 * DAY_MS;
const SERVING_LIFETIME_MS = 365 * DAY_MS;

type CertificateDecision =
  /** Everything is in order until then. */
  | { do: "keep"; data: ServingCertificates; checkAgainAfterMs: number }
  /** A new serving certificate; with a new authority the trust has to spread before it is used. */
  | { do: "replace"; data: Required<CertificateData>; newAuthority: boolean };

/**
 * Decides whether to keep the webhook's certificates or to replace them: in the last third of their lifetime, when they are for other names, or when
 * anything in the Secret is missing or does not match. Earlier authorities stay trusted while they are valid, so that no call fails in between.
 *
 * @param names DNS names and addresses that the webhook is called by, the first one the subject
 * @see offloading reference 16.6
 */
export function decideCertificates(
  data: CertificateData,
  names: readonly string[],
  now: Date,
): CertificateDecision {
  const serving = usableServing(data, names, now);
  if (serving !== undefined) return { do: "keep", ...serving };
  const authority = usableAuthority(data, now);
  const issuer = authority ?? newAuthority(now);
  const { certificate, privateKey } = issueServingCertificate(
    issuer,
    { commonName: names[0] ?? "", organization: ORGANIZATION },
    { dns: names.filter((name) => isIP(name) === 0), ip: names.filter((name) => isIP(name) !== 0) },
    validity(now, SERVING_LIFETIME_MS),
  );
  return {
    do: "replace",
    newAuthority: authority === undefined,
    data: {
      ca: bundle([issuer.certificate, ...authoritiesOf(data.ca)], now),
      "ca.key": issuer.privateKey,
      "tls.crt": certificate,
      "tls.key": privateKey,
    },
  };
}

function usableServing(
  data: CertificateData,
  names: readonly string[],
  now: Date,
): { data: ServingCertificates; checkAgainAfterMs: number } | undefined {
  const { ca, "tls.crt": certificate, "tls.key": key } = data;
  if (!ca || !certificate || !key) return undefined;
  return unlessUnreadable(() => {
    const parsed = new X509Certificate(certificate);
    if (!parsed.checkPrivateKey(readPrivateKey(key))) return undefined;
    if (!names.every((name) => isFor(parsed, name))) return undefined;
    const issued = authoritiesOf(ca).some((text) => {
      const issuer = new X509Certificate(text);
      return parsed.checkIssued(issuer) && parsed.verify(issuer.publicKey) && !isPast(text, now);
    });
    const due = renewal(parseCertificate(certificate), now);
    if (!issued || due.due) return undefined;
    return { data: { ca, "tls.crt": certificate, "tls.key": key }, checkAgainAfterMs: due.checkAgainAfterMs };
  });
}

function isFor(certificate: X509Certificate, name: string): boolean {
  return isIP(name) === 0
    ? certificate.checkHost(name, { subject: "never" }) !== undefined
    : certificate.checkIP(name) !== undefined;
}

/** The first authority, when we have its key and it outlives the certificates that it will sign. */
function usableAuthority(data: CertificateData, now: Date): KeyedCertificate | undefined {
  const [certificate] = authoritiesOf(data.ca);
  const privateKey = data["ca.key"];
  if (certificate === undefined || !privateKey) return undefined;
  return unlessUnreadable(() => {
    const belongs = new X509Certificate(certificate).checkPrivateKey(readPrivateKey(privateKey));
    const due = renewal(parseCertificate(certificate), now).due;
    return belongs && !due ? { certificate, privateKey } : undefined;
  });
}

function newAuthority(now: Date): KeyedCertificate {
  return createCertificateAuthority(
    { commonName: "liqo-webhook-ca", organization: ORGANIZATION },
    validity(now, AUTHORITY_LIFETIME_MS),
  );
}

function validity(now: Date, lifetimeMs: number): { notBefore: Date; notAfter: Date } {
  const notBefore = new Date(now.getTime() - BACKDATED_MS);
  return { notBefore, notAfter: new Date(notBefore.getTime() + lifetimeMs) };
}

/** Whole certificates, each once, without those that have run out. */
function bundle(certificates: readonly string[], now: Date): string {
  return [...new Set(certificates)].filter((certificate) => !isPast(certificate, now)).join("");
}

function isPast(certificate: string, now: Date): boolean {
  return unlessUnreadable(() => parseCertificate(certificate).notAfter.getTime() <= now.getTime()) ?? true;
}

function authoritiesOf(text: string | undefined): string[] {
  const certificates: string[] = [];
  for (let block = decodePem(text ?? ""); block !== undefined; block = decodePem(block.rest)) {
    if (block.label === "CERTIFICATE") certificates.push(encodePem(block.label, block.der));
  }
  return certificates;
}

/** What can't be read counts as missing, and is replaced. */
function unlessUnreadable<V>(read: () => V): V | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

interface ClientConfig {
  caBundle?: string;
  url?: string;
  service?: { name: string; namespace: string; path?: string; port?: number };
}

/** A webhook configuration, mutating or validating, as far as clients' trust goes. */
export interface TrustingConfiguration {
  metadata: { labels?: Record<string, string> };
  webhooks?: readonly { name: string; clientConfig: ClientConfig }[];
}

export interface Trust {
  /** PEM. */
  ca: string;
  /** `https://host:port` to call in place of the Service. */
  baseUrl?: string;
}

/**
 * The JSON Patch with which a configuration trusts a CA in every entry; empty when it does already, or when it does not carry the label that
 * asks for it. Each step first tests that the entry is the one meant: others may add and remove entries.
 */
export function trustPatch(configuration: TrustingConfiguration, trust: Trust): (PatchOperation | Test)[] {
  if (configuration.metadata.labels?.[Label.webhook] !== LabelValue.true) return [];
  return (configuration.webhooks ?? []).flatMap(({ name, clientConfig }, index) => {
    const wanted = trusting(clientConfig, trust);
    if (isDeepStrictEqual(clientConfig, wanted)) return [];
    const entry = `/webhooks/${index}`;
    return [
      { op: "test" as const, path: `${entry}/name`, value: name },
      { op: "replace" as const, path: `${entry}/clientConfig`, value: wanted },
    ];
  });
}

export interface Test {
  op: "test";
  path: string;
  value: unknown;
}

function trusting(present: ClientConfig, { ca, baseUrl }: Trust): ClientConfig {
  const caBundle = Buffer.from(ca).toString("base64");
  if (baseUrl === undefined) return { ...present, caBundle };
  const path = present.service?.path ?? (present.url === undefined ? "" : new URL(present.url).pathname);
  return { url: `${baseUrl}${path}`, caBundle };
}
