import { X509Certificate } from "node:crypto";
import { decodePem } from "./pem";

/** What the runtime reads of a certificate. */
export interface Certificate {
  commonName: string | undefined;
  organizations: string[];
  notBefore: Date;
  notAfter: Date;
  /** SPKI PEM. */
  publicKey: string;
}

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
  if (block?.label !== "CERTIFICATE") {
    throw new CertificateError("certificate is not readable: expected a PEM block `CERTIFICATE`");
  }
  let parsed: Certificate;
  try {
    const certificate = new X509Certificate(block.der);
    parsed = {
      commonName: subjectValues(certificate, "CN")[0],
      organizations: subjectValues(certificate, "O"),
      notBefore: certificate.validFromDate,
      notAfter: certificate.validToDate,
      publicKey: certificate.publicKey.export({ type: "spki", format: "pem" }).toString(),
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

function subjectValues(certificate: X509Certificate, key: string): string[] {
  // One line an attribute; the legacy object form of Node has a type that promises strings and may hold lists.
  return certificate.subject
    .split("\n")
    .filter((line) => line.startsWith(`${key}=`))
    .map((line) => line.slice(key.length + 1));
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
