import { ConfigMap, DataKey, Name } from "../../runtime/api";
import {
  ApiError,
  CannotConnectError,
  ConnectionError,
  DeadlineError,
  KubeClient,
  KubeconfigError,
} from "../../runtime/kube";
import { lookMs } from "../cluster-inputs";

/** Looks at a cluster, where it can be reached and looked at; what is wrong with it otherwise is told by whatever is made there. */
export async function lookBeforehand(
  kubeconfig: string,
  look: (client: KubeClient, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  let client: KubeClient;
  try {
    client = KubeClient.fromKubeconfig(kubeconfig, { deadlineMs: lookMs });
  } catch (error) {
    if (error instanceof KubeconfigError) return;
    throw error;
  }
  try {
    await look(client, AbortSignal.timeout(2 * lookMs));
  } catch (error) {
    if (!cannotLook(error)) throw error;
  } finally {
    client.close();
  }
}

function cannotLook(error: unknown): boolean {
  return (
    error instanceof ConnectionError ||
    error instanceof CannotConnectError ||
    error instanceof DeadlineError ||
    (error instanceof ApiError && (error.status === 401 || error.status === 403))
  );
}

/** What is wrong with a cluster ID, by the installation that is there; undefined where there is none (yet). */
export async function clusterIdFault(
  client: KubeClient,
  { clusterId, namespace }: { clusterId: string; namespace: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const ref = { name: Name.clusterIDConfigMap, namespace };
  const has = (await client.get(ConfigMap, ref, { signal, deadlineMs: lookMs }))?.data?.[DataKey.clusterID];
  if (has === undefined || has === clusterId) return undefined;
  return `clusterId is "${clusterId}", but the cluster at ${client.server} has the ID "${has}" (ConfigMap ${namespace}/${ref.name}). Nothing was changed. Give "${has}", best as the Installation's clusterId; or, for "${clusterId}", the kubeconfig of that cluster`;
}
