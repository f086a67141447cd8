import { Annotation, DataKey, EventReason, Name, Secret } from "../api";
import {
  decodePem,
  encodePem,
  generateKeyPair,
  type KeyPair,
  publicKeyOf,
  readPrivateKey,
} from "../identity";
import {
  type Controller,
  type Informer,
  isAlreadyExists,
  type KubeClient,
  runController,
  watches,
} from "../kube";
import type { AuthenticationContext } from "./context";

/**
 * Makes the cluster's key pair where there is none; an existing one is used as it is (control plane reference 4.1).
 *
 * @param rsa for TLS stacks without Ed25519
 * @param previous public keys of the pairs that were there before, PEM, the last one first
 */
export async function ensureClusterKeys(
  client: KubeClient,
  liqoNamespace: string,
  rsa: boolean,
  previous: readonly string[] = [],
): Promise<void> {
  const ref = { name: Name.clusterKeys, namespace: liqoNamespace };
  if ((await client.get(Secret, ref)) !== undefined) return;
  try {
    await client.create(Secret, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: ref,
      type: "Opaque",
      data: keyData(generateKeyPair(rsa ? "rsa" : "ed25519"), previous),
    });
  } catch (error) {
    // Another replica was faster: its pair is the cluster's.
    if (!isAlreadyExists(error)) throw error;
  }
}

/** Data of the Secret for a pair. */
function keyData(pair: KeyPair, previous: readonly string[]): Record<string, string> {
  return {
    [DataKey.privateKey]: base64(pair.privateKey),
    [DataKey.publicKey]: base64(pair.publicKey),
    ...(previous.length === 0
      ? {}
      : { [DataKey.previousPublicKeys]: base64(previous.slice(0, KEPT).join("")) }),
  };
}

/** How many public keys of earlier pairs the Secret keeps. */
const KEPT = 4;

/** The public keys of the pairs before the present one, PEM, the last one first, as far as they are known. */
export function previousPublicKeys(informer: Informer<Secret>): string[] {
  const keys: string[] = [];
  const text = decode(informer.list()[0]?.data?.[DataKey.previousPublicKeys]);
  for (let block = decodePem(text); block !== undefined; block = decodePem(block.rest)) {
    if (block.label === "PUBLIC KEY") keys.push(encodePem(block.label, block.der));
  }
  return keys;
}

/**
 * The cluster's key pair as it is now.
 *
 * @param informer of the Secret `authentication-keys` alone
 * @throws Error saying what is wrong with the Secret, never what is in it
 */
export function clusterKeyPair(informer: Informer<Secret>): KeyPair {
  const [secret] = informer.list();
  if (secret === undefined) throw new Error(`Secret ${Name.clusterKeys} is not in the Liqo namespace`);
  const privateKey = decode(secret.data?.[DataKey.privateKey]);
  try {
    readPrivateKey(privateKey);
  } catch (cause) {
    throw new Error(`Secret ${Name.clusterKeys}: data.${DataKey.privateKey} is not a usable key`, { cause });
  }
  // Whoever replaces the pair by hand may forget the other half.
  return { privateKey, publicKey: publicKeyOf(privateKey) };
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

function decode(data: string | undefined): string {
  return Buffer.from(data ?? "", "base64").toString("utf8");
}

/**
 * At the consumer: generates new cluster keys when the annotation `liqo.io/rotate-keys` asks for it, or when the Secret was deleted. The other controllers
 * do the rest: a Renew carries the new key to each provider (`renew_local`), its certificate comes back in the status of the same Renew, and then
 * the slices request certificates for the new key (`resourceslice_local`). Until then each identity uses the key that its certificate is for.
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
