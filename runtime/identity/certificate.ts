import { X509Certificate } from "node:crypto";
import { contextTag, decodePem, encodePem, readElement, readInside, tag } from "./der";
import { commonNameOf, type DistinguishedName, organizationsOf, readName } from "./subject";
import { type Extension, readExtensions } from "./extensions";

/** What the runtime reads of a certificate, be it a good one or not. One that is handed out goes through `checkCertificate`. */
export interface Certificate {
  subject: DistinguishedName;
  /** As Kubernetes reads the subject, which may say more. Undefined when it has none. */
  commonName: string | undefined;
  organizations: string[];
  notBefore: Date;
  notAfter: Date;
  /** SPKI PEM. */
  publicKey: string;
  extensions: Extension[];
}

const label = "CERTIFICATE";

export class CertificateError extends Error {
  override name = "CertificateError";
}

/**
 * Parses the first certificate of a PEM text.
 *
 * @throws CertificateError
 */
export function parseCertificate(pem: string | Uint8Array): Certificate {
  const block = decodePem(Buffer.from(pem).toString("utf8"));
  if (block?.label !== label) {
    throw new CertificateError("certificate is not readable: expected a PEM block `CERTIFICATE`");
  }
  let parsed: Certificate;
  try {
    const certificate = new X509Certificate(block.der);
    const { subject, extensions } = decode(block.der);
    parsed = {
      subject,
      commonName: commonNameOf(subject),
      organizations: organizationsOf(subject),
      notBefore: certificate.validFromDate,
      notAfter: certificate.validToDate,
      publicKey: certificate.publicKey.export({ type: "spki", format: "pem" }).toString(),
      extensions,
    };
  } catch (cause) {
    throw new CertificateError("certificate is not readable: its PEM block holds no X.509 certificate", {
      cause,
    });
  }
  const lifetime = parsed.notAfter.getTime() - parsed.notBefore.getTime();
  // Not a number where a date is none.
  if (!(lifetime > 0))
    throw new CertificateError("certificate is valid at no time: it ends before it begins");
  return parsed;
}

/**
 * The certificates of a PEM text and nothing else, written by ourselves: what is checked is what everybody reads.
 *
 * @throws CertificateError where one of them can't be read
 */
export function certificateChain(pem: string | Uint8Array): string {
  const chain: string[] = [];
  let block = decodePem(Buffer.from(pem).toString("utf8"));
  for (; block !== undefined; block = decodePem(block.rest)) {
    const certificate = encodePem(block.label, block.der);
    parseCertificate(certificate);
    chain.push(certificate);
  }
  return chain.join("");
}

function decode(der: Buffer): Pick<Certificate, "subject" | "extensions"> {
  const [body] = readInside(readElement(der, tag.sequence), tag.sequence);
  const parts = readInside(body, tag.sequence);
  // Certificates of version 1 don't say so.
  const version = parts[0]?.tag === contextTag(0, true) ? 1 : 0;
  const list = parts.find((part) => part.tag === contextTag(3, true));
  return {
    subject: readName(parts[version + 4]),
    extensions: list === undefined ? [] : readExtensions(readElement(list.body, tag.sequence)),
  };
}

export type Renewal = { due: true } | { due: false; checkAgainAfterMs: number };

/**
 * Whether a certificate is due for renewal (control plane reference 8.1): in the last third of its lifetime. Before that,
 * look again after 1.1 times what is left until then.
 */
export function renewal(validity: Pick<Certificate, "notBefore" | "notAfter">, now: Date): Renewal {
  const lifetime = validity.notAfter.getTime() - validity.notBefore.getTime();
  const remaining = validity.notAfter.getTime() - lifetime / 3 - now.getTime();
  return remaining <= 0 ? { due: true } : { due: false, checkAgainAfterMs: Math.round(remaining * 1.1) };
}
