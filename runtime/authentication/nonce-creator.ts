import { DataKey, EventReason, Secret } from "../api";
import { generateNonce } from "../identity";
import { type Controller, keyOf, runController, watches } from "../kube";
import { type AuthenticationContext, labelledPeer } from "./authentication-context";
import { checkPlacement } from "./placement";

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
        // Bound to the version seen: two fillings must not follow each other, the first may be signed already.
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
