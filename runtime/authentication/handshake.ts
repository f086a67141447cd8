import { DataKey, EventReason, type Secret, type Tenant } from "../api";
import {
  checkCertificateRequest,
  controlPlaneSubject,
  InvalidCertificateRequest,
  KeyError,
  readPublicKey,
  verifyNonce,
} from "../identity";
import { isRotated } from "./tenant-key";

/** What the provider thinks of a consumer's proof that it holds its key. */
type Handshake =
  | { outcome: "verified" }
  /** Something is not there yet, or there twice: the next change of a nonce Secret decides anew. */
  | { outcome: "waiting"; reason: string; message: string }
  /** The Tenant itself is at fault: only a change of the Tenant or the nonce helps. */
  | { outcome: "refused"; reason: string; message: string };

/**
 * Verifies a Tenant against the nonce that its consumer was given: nonce, key, signature, certificate request, in this order
 * (control plane reference 6.3, step 6). A key that came by a rotation needs no signature of the nonce: its consumer proved itself by the
 * key before.
 *
 * @param nonces all nonce Secrets of that consumer.
 */
export function verifyHandshake(tenant: Tenant, nonces: readonly Secret[]): Handshake {
  const consumer = tenant.spec.clusterID ?? "";
  const [secret, second] = nonces;
  if (secret === undefined) {
    return {
      outcome: "waiting",
      reason: EventReason.nonceNotFound,
      message: `no nonce Secret for cluster "${consumer}"; create one labelled liqo.io/nonce=true, or set authzPolicy to TolerateNoHandshake`,
    };
  }
  if (second !== undefined) {
    const names = nonces.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).sort();
    return {
      outcome: "waiting",
      reason: EventReason.nonceNotFound,
      message: `cluster "${consumer}" has ${nonces.length} nonce Secrets (${names.join(", ")}), exactly one is needed; delete the others`,
    };
  }
  const nonce = Buffer.from(secret.data?.[DataKey.nonce] ?? "", "base64");
  if (nonce.length === 0) {
    return {
      outcome: "waiting",
      reason: EventReason.nonceNotFound,
      message: `the nonce Secret ${secret.metadata.namespace}/${secret.metadata.name} is still empty`,
    };
  }
  return verifyProof(tenant, consumer, nonce);
}

function verifyProof(tenant: Tenant, consumer: string, nonce: Buffer): Handshake {
  const { publicKey = "", signature = "", csr = "" } = tenant.spec;
  try {
    const key = readPublicKey(Buffer.from(publicKey, "base64"));
    if (!isRotated(tenant) && !verifyNonce(nonce, Buffer.from(signature, "base64"), key)) {
      return refused(
        EventReason.signatureVerificationFailed,
        "spec.signature is not the nonce signed with spec.publicKey; sign the present nonce and apply the Tenant again",
      );
    }
    checkCertificateRequest(Buffer.from(csr, "base64"), {
      subject: controlPlaneSubject(consumer),
      publicKey: key,
    });
    return { outcome: "verified" };
  } catch (error) {
    if (error instanceof KeyError) {
      return refused(EventReason.signatureVerificationFailed, `spec.publicKey: ${error.message}`);
    }
    if (error instanceof InvalidCertificateRequest) {
      return refused(EventReason.invalidCSR, `spec.csr: ${error.message}`);
    }
    throw error;
  }
}

function refused(reason: string, message: string): Handshake {
  return { outcome: "refused", reason, message };
}
