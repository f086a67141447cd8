import { DataKey, Name, Secret } from "../api";
import { generateKeyPair, type KeyPair, readPrivateKey } from "../identity";
import { type Informer, isAlreadyExists, type KubeClient } from "../kube";

/**
 * Makes the cluster's key pair where there is none; an existing one is used as it is (control plane reference 4.1).
 *
 * @param rsa for TLS stacks without Ed25519
 */
export async function ensureClusterKeys(
  client: KubeClient,
  liqoNamespace: string,
  rsa: boolean,
): Promise<void> {
  const ref = { name: Name.clusterKeys, namespace: liqoNamespace };
  if ((await client.get(Secret, ref)) !== undefined) return;
  const pair = generateKeyPair(rsa ? "rsa" : "ed25519");
  try {
    await client.create(Secret, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: ref,
      type: "Opaque",
      data: { [DataKey.privateKey]: base64(pair.privateKey), [DataKey.publicKey]: base64(pair.publicKey) },
    });
  } catch (error) {
    // Another replica was faster: its pair is the cluster's.
    if (!isAlreadyExists(error)) throw error;
  }
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
  const publicKey = decode(secret.data?.[DataKey.publicKey]);
  try {
    readPrivateKey(privateKey);
  } catch (cause) {
    throw new Error(`Secret ${Name.clusterKeys}: data.${DataKey.privateKey} is not a usable key`, { cause });
  }
  return { privateKey, publicKey };
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

function decode(data: string | undefined): string {
  return Buffer.from(data ?? "", "base64").toString("utf8");
}
