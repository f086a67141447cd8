import { X509Certificate } from "node:crypto";

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

/** Parses the first certificate of a PEM text. */
export function parseCertificate(pem: string | Uint8Array): Certificate {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(Buffer.from(pem));
  } catch (cause) {
    throw new CertificateError("certificate is not readable: expected a PEM block `CERTIFICATE`", { cause });
  }
  return {
    commonName: subjectValues(certificate, "CN")[0],
    organizations: subjectValues(certificate, "O"),
    notBefore: certificate.validFromDate,
    notAfter: certificate.validToDate,
    publicKey: certificate.publicKey.export({ type: "spki", format: "pem" }).toString(),
  };
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
