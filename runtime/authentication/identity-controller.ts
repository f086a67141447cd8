import { DataKey, EventReason, Identity, kubeconfigSecretName, Secret } from "../api";
import {
  CertificateError,
  KeyError,
  KubeconfigError,
  parseCertificate,
  parseKubeconfig,
  publicKeyDer,
  publicKeyOf,
  readPrivateKey,
} from "../identity";
import {
  type Controller,
  exceptStatus,
  keyOf,
  ownedBy,
  patchStatusIfChanged,
  runController,
  Terminal,
  watches,
  withGlobalMetadata,
  writeIfChanged,
} from "../kube";
import type { AuthenticationContext } from "./authentication-context";
import { clusterKeyPair } from "./cluster-keys";
import { kubeconfigSecret } from "./kubeconfig-secret";

/** At the consumer: makes a kubeconfig Secret of each Identity (control plane reference 6.4). */
export function runIdentityController({ runtime, caches, options }: AuthenticationContext): Controller {
  const { identities, peerSecrets, clusterKeys } = caches;
  /** The keys in use, by Identity: a Secret that somebody deletes takes the only other copy of a replaced key along. */
  const remembered = new Map<string, string>();

  /** The key that an identity's certificate is for: the cluster's, or after a change of that the one kept in the Secret. */
  function privateKeyFor(identity: Identity, existing: Secret | undefined): string {
    const { privateKey } = clusterKeyPair(clusterKeys);
    const key = keyOf(identity);
    const signed = identity.spec.authParams?.signedCRT;
    if (!signed) return privateKey;
    const wanted = certifiedKey(signed);
    for (const candidate of [privateKey, keptKey(existing), remembered.get(key)]) {
      if (candidate === undefined || !publicKeyDer(publicKeyOf(candidate)).equals(wanted)) continue;
      remembered.set(key, candidate);
      return candidate;
    }
    throw new Terminal(
      EventReason.authParamsUpdateFailed,
      "spec.authParams.signedCRT is for another key than this cluster's; authenticate with the provider again",
    );
  }

  return runController(
    {
      name: "identity",
      sources: [
        watches(identities, { when: exceptStatus }),
        watches(peerSecrets, { keys: ownedBy("Identity") }),
        watches(clusterKeys, { keys: () => identities.list().map(keyOf) }),
      ],
      objectOf: (key) => identities.getByKey(key),
      reconcile: async (key) => {
        const identity = identities.getByKey(key);
        if (identity === undefined) remembered.delete(key);
        if (identity === undefined || identity.metadata.deletionTimestamp) return;
        const name = kubeconfigSecretName(identity.metadata.name);
        const existing = peerSecrets.get(name, identity.metadata.namespace);
        const desired = kubeconfigSecret(identity, privateKeyFor(identity, existing));
        const { object, change } = await writeIfChanged(
          runtime.client,
          Secret,
          withGlobalMetadata(desired, options.global),
          existing,
        );
        if (change !== "none") {
          runtime.events.normal(object, EventReason.kubeconfigEnsured, "Kubeconfig ensured");
        }
        await patchStatusIfChanged(runtime.client, Identity, identity, { kubeconfigSecretRef: { name } });
      },
    },
    runtime,
  );
}

/** The public key that a certificate is for. @throws Terminal where it is no certificate */
function certifiedKey(signedCRT: string): Buffer {
  try {
    return publicKeyDer(parseCertificate(Buffer.from(signedCRT, "base64")).publicKey);
  } catch (error) {
    if (!(error instanceof CertificateError || error instanceof KeyError)) throw error;
    throw new Terminal(
      EventReason.authParamsUpdateFailed,
      `spec.authParams.signedCRT: ${error.message}; copy authParams from the provider's Tenant or ResourceSlice`,
    );
  }
}

/** The key in the Secret as it stands; undefined where there is none that can be read, since the Secret is about to be written anew. */
function keptKey(secret: Secret | undefined): string | undefined {
  const kubeconfig = Buffer.from(secret?.data?.[DataKey.kubeconfig] ?? "", "base64").toString("utf8");
  try {
    const kept = kubeconfig === "" ? undefined : parseKubeconfig(kubeconfig).privateKey;
    if (kept !== undefined) readPrivateKey(kept);
    return kept;
  } catch (error) {
    if (error instanceof KubeconfigError || error instanceof KeyError) return undefined;
    throw error;
  }
}
