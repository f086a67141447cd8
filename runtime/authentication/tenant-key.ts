import { Annotation, type Tenant } from "../api";
import {
  CertificateError,
  checkCertificateRequest,
  controlPlaneSubject,
  InvalidCertificateRequest,
  KeyError,
  parseCertificate,
  publicKeyFingerprint,
  readPublicKey,
  samePublicKey,
} from "../identity";

/** How many earlier keys the status keeps: rotations may follow each other faster than slices follow them. */
const KEPT = 4;

type Memory = Pick<NonNullable<Tenant["status"]>, "rotatedPublicKey" | "replacedPublicKeys">;

/** What to do with the public key in a consumer's Renew. */
type KeyReplacement =
  | { outcome: "none" }
  | { outcome: "refused"; message: string }
  /** The status, which vouches for the new key, is written before the spec, so that a Tenant never has a key that nothing vouches for. */
  | { outcome: "replace"; status: Memory; spec: Pick<Tenant["spec"], "publicKey" | "csr"> };

/**
 * Decides on the key in a Renew. That the consumer holds the key before it is proven by the request that wrote the Renew: in the tenant
 * namespace nobody else may. That it holds the new one is proven by the certificate request, which is signed with it.
 */
export function keyReplacement(tenant: Tenant, sent: { publicKey?: string; csr?: string }): KeyReplacement {
  const { publicKey, csr } = sent;
  const { clusterID = "", authzPolicy, tenantCondition } = tenant.spec;
  if (!publicKey || !csr || authzPolicy === "TolerateNoHandshake" || tenantCondition === "Drained")
    return { outcome: "none" };
  try {
    const key = readPublicKey(Buffer.from(publicKey, "base64"));
    const rotatedPublicKey = publicKeyFingerprint(key);
    const present = fingerprintOf(tenant);
    if (present === rotatedPublicKey) return { outcome: "none" };
    checkCertificateRequest(Buffer.from(csr, "base64"), {
      subject: controlPlaneSubject(clusterID),
      publicKey: key,
    });
    const before = [...(present === undefined ? [] : [present]), ...replaced(tenant)];
    return {
      outcome: "replace",
      status: { rotatedPublicKey, replacedPublicKeys: [...new Set(before)].slice(0, KEPT) },
      spec: { publicKey, csr },
    };
  } catch (error) {
    if (!(error instanceof KeyError || error instanceof InvalidCertificateRequest)) throw error;
    return { outcome: "refused", message: `the new key in its spec is not taken: ${error.message}` };
  }
}

/**
 * Whether a Tenant's present key came by a rotation, which stands for the signature of the nonce. The status says so, which only this cluster's
 * controllers write. Between the two writes of a rotation, and for a Tenant whose rotation an earlier version noted in an annotation, the key
 * counts that the status holds a certificate for: it was accepted before.
 */
export function isRotated(tenant: Tenant): boolean {
  const present = fingerprintOf(tenant);
  if (present === undefined) return false;
  const rotated = tenant.status?.rotatedPublicKey;
  if (rotated === present) return true;
  const everRotated =
    rotated !== undefined || tenant.metadata.annotations?.[Annotation.rotatedPublicKey] === present;
  return everRotated && certifiedFingerprint(tenant) === present;
}

/** Whether a key is one that a Tenant had before its last rotations. */
export function isReplaced(tenant: Tenant, publicKey: Parameters<typeof publicKeyFingerprint>[0]): boolean {
  return isRotated(tenant) && replaced(tenant).includes(publicKeyFingerprint(publicKey));
}

function replaced({ status }: Tenant): string[] {
  return status?.replacedPublicKeys ?? [];
}

function fingerprintOf({ spec }: Tenant): string | undefined {
  try {
    return publicKeyFingerprint(readPublicKey(Buffer.from(spec.publicKey ?? "", "base64")));
  } catch (error) {
    if (error instanceof KeyError) return undefined;
    throw error;
  }
}

/** Of the key that the Tenant's certificate is for; undefined where it has none that can be read. */
function certifiedFingerprint({ status }: Tenant): string | undefined {
  const certificate = status?.authParams?.signedCRT;
  if (!certificate) return undefined;
  try {
    return publicKeyFingerprint(parseCertificate(Buffer.from(certificate, "base64")).publicKey);
  } catch (error) {
    if (error instanceof CertificateError || error instanceof KeyError) return undefined;
    throw error;
  }
}

/**
 * The warning for a Tenant whose key is not the one that its certificate is for; undefined where it is, or where the key came by a rotation. An
 * administrator may have given the cluster new keys, but a second cluster under the same ID looks just like that (field fault B42).
 */
export function changedKeyMessage(tenant: Tenant): string | undefined {
  const { publicKey, clusterID = "" } = tenant.spec;
  const certificate = tenant.status?.authParams?.signedCRT;
  if (!publicKey || !certificate || isRotated(tenant)) return undefined;
  try {
    const present = readPublicKey(Buffer.from(publicKey, "base64"));
    const certified = parseCertificate(Buffer.from(certificate, "base64")).publicKey;
    if (samePublicKey(present, certified)) return undefined;
  } catch (error) {
    // The user of an unreadable value reports it.
    if (error instanceof CertificateError || error instanceof KeyError) return undefined;
    throw error;
  }
  return `spec.publicKey is another key than cluster "${clusterID}" had before: unless that cluster was given new keys, this is another cluster of the same ID, and the two take each other's place here; give one of them another ID`;
}
