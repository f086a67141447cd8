import { DataKey, EventReason, Secret } from "../api";
import { generateNonce, publicKeyOf, signNonce, verifyNonce } from "../identity";
import { type Controller, keyOf, runController, watches, writeIfChanged } from "../kube";
import { clusterKeyPair } from "./cluster-keys";
import type { AuthenticationContext } from "./context";
import { checkPlacement, labelledPeer } from "./tenant-namespace";

/** At the provider: fills nonce Secrets. A nonce stays as long as its Secret (control plane reference 6.1). */
export function runNonceCreator({ runtime, caches }: AuthenticationContext): Controller {
  const { nonces, tenantNamespaces } = caches;
  return runController(
    {
      name: "secret_noncecreator",
      sources: [
        watches(nonces),
        watches(tenantNamespaces.informer, {
          keys: (namespace) => caches.ofPeer(nonces, labelledPeer(namespace) ?? "").map(keyOf),
        }),
      ],
      objectOf: (key) => nonces.getByKey(key),
      reconcile: async (key) => {
        const secret = nonces.getByKey(key);
        if (secret === undefined || secret.metadata.deletionTimestamp) return;
        if (secret.data?.[DataKey.nonce]) return;
        const fault = checkPlacement(secret, tenantNamespaces, EventReason.missingClusterID);
        if (fault !== undefined) {
          runtime.events.warning(secret, fault.reason, fault.message);
          return;
        }
        // Bound to the version seen: a second nonce must not replace the first, which may be signed already.
        await runtime.client.replace(Secret, {
          ...secret,
          data: { ...secret.data, [DataKey.nonce]: Buffer.from(generateNonce()).toString("base64") },
        });
        runtime.events.normal(secret, EventReason.nonceGenerated, "Nonce generated");
      },
    },
    runtime,
  );
}

/**
 * A provider chooses the text that is signed. Text of these characters is neither a certificate request nor a TLS handshake, so that no provider gets a
 * signature for another purpose.
 */
const NONCE_TEXT = /^[A-Za-z0-9+/=_-]{1,512}$/;

/** At the consumer: signs the nonces of providers with the cluster's key (control plane reference 6.2). */
export function runNonceSigner({ runtime, caches }: AuthenticationContext): Controller {
  const { signedNonces, tenantNamespaces, clusterKeys } = caches;
  return runController(
    {
      name: "secret_noncesigner",
      sources: [
        watches(signedNonces),
        watches(tenantNamespaces.informer, {
          keys: (namespace) => caches.ofPeer(signedNonces, labelledPeer(namespace) ?? "").map(keyOf),
        }),
        watches(clusterKeys, { keys: () => signedNonces.list().map(keyOf) }),
      ],
      objectOf: (key) => signedNonces.getByKey(key),
      reconcile: async (key) => {
        const secret = signedNonces.getByKey(key);
        if (secret === undefined || secret.metadata.deletionTimestamp) return;
        const fault = checkPlacement(secret, tenantNamespaces, EventReason.missingRemoteClusterID);
        if (fault !== undefined) {
          runtime.events.warning(secret, fault.reason, fault.message);
          return;
        }
        const keys = clusterKeyPair(clusterKeys);
        const nonce = Buffer.from(secret.data?.[DataKey.nonce] ?? "", "base64");
        if (nonce.length === 0) {
          runtime.events.warning(
            secret,
            EventReason.nonceNotFound,
            `data.${DataKey.nonce} is empty; put the nonce there that the provider made`,
          );
          return;
        }
        if (!NONCE_TEXT.test(nonce.toString("latin1"))) {
          runtime.events.warning(
            secret,
            EventReason.nonceNotFound,
            `data.${DataKey.nonce} is no nonce, which is text in base64 alone: nothing else is signed with this cluster's key; put the nonce there that the provider made`,
          );
          return;
        }
        const signature = Buffer.from(secret.data?.[DataKey.signedNonce] ?? "", "base64");
        // Verified, not compared: ECDSA signatures of the same text differ.
        if (signature.length > 0 && verifyNonce(nonce, signature, publicKeyOf(keys.privateKey))) return;
        await writeIfChanged(
          runtime.client,
          Secret,
          {
            apiVersion: "v1",
            kind: "Secret",
            metadata: { name: secret.metadata.name, namespace: secret.metadata.namespace },
            data: { [DataKey.signedNonce]: signNonce(nonce, keys.privateKey).toString("base64") },
          },
          secret,
          { lock: "always" },
        );
        runtime.events.normal(secret, EventReason.nonceSigned, "Nonce signed");
      },
    },
    runtime,
  );
}
