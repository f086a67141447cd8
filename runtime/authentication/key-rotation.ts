import { Annotation, EventReason, Name, Secret, type Tenant } from "../api";
import {
  checkCertificateRequest,
  controlPlaneSubject,
  generateKeyPair,
  InvalidCertificateRequest,
  KeyError,
  publicKeyFingerprint,
  readPublicKey,
} from "../identity";
import { type Controller, runController, watches } from "../kube";
import type { AuthenticationContext } from "./authentication-context";
import { clusterKeyPair, ensureClusterKeys, keyData, previousPublicKeys } from "./cluster-keys";

/**
 * At the consumer: makes the cluster's keys anew when somebody asks for it by the annotation `liqo.io/rotate-keys`, or takes the Secret away.
 * What else follows is the other controllers' work: a Renew brings the new key to each provider (`renew_local`), its certificate comes back
 * through the same Renew, and then the slices ask for certificates of the new key (`resourceslice_local`). Until then each identity goes on
 * with the key that its certificate is for.
 */
export function runKeyRotation({ runtime, caches, options }: AuthenticationContext): Controller {
  const { clusterKeys } = caches;
  const ref = { name: Name.clusterKeys, namespace: options.liqoNamespace };
  let lastPublicKeys: string[] = [];
  return runController(
    {
      name: "cluster_keys",
      sources: [watches(clusterKeys, { keys: () => [ref.name] })],
      objectOf: () => clusterKeys.list()[0],
      reconcile: async () => {
        const [secret] = clusterKeys.list();
        if (secret === undefined) {
          await ensureClusterKeys(
            runtime.client,
            options.liqoNamespace,
            options.tlsCompatibilityMode,
            lastPublicKeys,
          );
          return;
        }
        const { publicKey } = clusterKeyPair(clusterKeys);
        lastPublicKeys = [publicKey, ...previousPublicKeys(clusterKeys)];
        if (secret.metadata.annotations?.[Annotation.rotateKeys] !== "true") return;
        const pair = generateKeyPair(options.tlsCompatibilityMode ? "rsa" : "ed25519");
        await runtime.client.patch(
          Secret,
          ref,
          {
            metadata: {
              uid: secret.metadata.uid,
              resourceVersion: secret.metadata.resourceVersion,
              annotations: { [Annotation.rotateKeys]: null },
            },
            data: keyData(pair, lastPublicKeys),
          },
          { type: "merge" },
        );
        runtime.events.normal(secret, EventReason.keysRotated, "The cluster has new keys");
      },
    },
    runtime,
  );
}

/** Keys before the present one that are remembered: rotations may follow each other faster than slices follow them. */
const KEPT = 4;

/** What becomes of a Tenant whose consumer sent another public key by its Renew. */
export type KeyReplacement =
  | { outcome: "none" }
  | { outcome: "refused"; message: string }
  | {
      outcome: "replace";
      spec: Pick<Tenant["spec"], "publicKey" | "csr">;
      annotations: Record<string, string>;
    };

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
    const fingerprint = publicKeyFingerprint(key);
    const present = fingerprintOf(tenant);
    if (present === fingerprint) return { outcome: "none" };
    checkCertificateRequest(Buffer.from(csr, "base64"), {
      subject: controlPlaneSubject(clusterID),
      publicKey: key,
    });
    return {
      outcome: "replace",
      spec: { publicKey, csr },
      annotations: {
        [Annotation.rotatedPublicKey]: fingerprint,
        ...(present === undefined
          ? {}
          : { [Annotation.replacedPublicKey]: [present, ...replaced(tenant)].slice(0, KEPT).join() }),
      },
    };
  } catch (error) {
    if (!(error instanceof KeyError || error instanceof InvalidCertificateRequest)) throw error;
    return { outcome: "refused", message: `the new key in its spec is not taken: ${error.message}` };
  }
}

/** Whether a Tenant's present key came by a rotation, which stands for the signature of the nonce. */
export function isRotated(tenant: Tenant): boolean {
  const fingerprint = tenant.metadata.annotations?.[Annotation.rotatedPublicKey];
  return fingerprint !== undefined && fingerprint === fingerprintOf(tenant);
}

/** Whether a key is one that a Tenant had before its last rotations. */
export function isReplaced(tenant: Tenant, publicKey: Parameters<typeof publicKeyFingerprint>[0]): boolean {
  return isRotated(tenant) && replaced(tenant).includes(publicKeyFingerprint(publicKey));
}

function replaced({ metadata }: Tenant): string[] {
  const list = metadata.annotations?.[Annotation.replacedPublicKey] ?? "";
  return list === "" ? [] : list.split(",");
}

function fingerprintOf({ spec }: Tenant): string | undefined {
  try {
    return publicKeyFingerprint(readPublicKey(Buffer.from(spec.publicKey ?? "", "base64")));
  } catch (error) {
    if (error instanceof KeyError) return undefined;
    throw error;
  }
}
