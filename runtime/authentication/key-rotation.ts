import { Annotation, EventReason, Name, Secret } from "../api";
import { generateKeyPair } from "../identity";
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
