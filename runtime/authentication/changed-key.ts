import type { Tenant } from "../api";
import { CertificateError, KeyError, parseCertificate, readPublicKey, samePublicKey } from "../identity";
import { isRotated } from "./rotated-key";

/**
 * What to tell of a Tenant whose key is not the one that it has a certificate for; undefined where it is, or where the key came by a rotation.
 * Both are right: a cluster may have been given new keys by hand. But it is also all that a provider sees of a second cluster under the ID of the
 * first (field fault B42).
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
    // What can't be read is told where it is used.
    if (error instanceof CertificateError || error instanceof KeyError) return undefined;
    throw error;
  }
  return `spec.publicKey is another key than cluster "${clusterID}" had before: unless that cluster was given new keys, this is another cluster of the same ID, and the two take each other's place here; give one of them another ID`;
}
