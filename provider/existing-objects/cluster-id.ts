import { ConfigMap, DataKey, Name } from "../../runtime/api";
import type { KubeClient } from "../../runtime/kube";
import { lookMs } from "../cluster-inputs";

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
