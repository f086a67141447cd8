import { createHash } from "node:crypto";
import { type CertificateSigningRequest, Name } from "../../api";

/** How far Kubernetes has come with a CertificateSigningRequest. */
export type Issuance =
  | { state: "issued"; certificate: Buffer }
  | { state: "unapproved" }
  | { state: "waiting"; remainingMs: number }
  | { state: "failed"; message: string };

/** How long a cluster's signer may take before it counts as missing. */
export const issuanceDeadlineMs = 30_000;

/**
 * Reads the state of a request.
 *
 * @param waitedMs since it was first seen approved, on a clock of our own: the API server's may be another
 */
export function issuance(request: CertificateSigningRequest, waitedMs: number): Issuance {
  const { certificate, conditions = [] } = request.status ?? {};
  if (certificate) return { state: "issued", certificate: Buffer.from(certificate, "base64") };
  const refusal = conditions.find(({ type }) => type === "Denied" || type === "Failed");
  const name = request.metadata.name;
  if (refusal !== undefined) {
    return {
      state: "failed",
      message: `CertificateSigningRequest ${name} is ${refusal.type} (${refusal.reason ?? "no reason"}: ${refusal.message ?? ""}); delete it to have the certificate asked for again`,
    };
  }
  if (!conditions.some(({ type }) => type === "Approved")) return { state: "unapproved" };
  if (waitedMs < issuanceDeadlineMs) return { state: "waiting", remainingMs: issuanceDeadlineMs - waitedMs };
  return {
    state: "failed",
    message: `CertificateSigningRequest ${name} was approved and not signed within ${issuanceDeadlineMs / 1000} s; this cluster's control plane seems to have no signer for ${request.spec.signerName}, use a cloud identity instead`,
  };
}

/**
 * Name of the CertificateSigningRequest for a request. It follows from what is asked for and what it replaces, so that asking again, after a
 * crash too, finds the same one.
 *
 * @param replaced the certificate that is about to expire, undefined for the first one
 */
export function issuanceName(csr: Buffer, replaced: Buffer | undefined): string {
  const digest = createHash("sha256")
    .update(csr)
    .update("\n")
    .update(replaced ?? "")
    .digest("hex");
  return `${Name.identityCSRPrefix}${digest.slice(0, 20)}`;
}
