import { ConfigMap, DataKey, Name } from "../../runtime/api";
import type { KubeClient } from "../../runtime/kube";
import { lookMs } from "../cluster-inputs";
import type { InputFault, ProviderContext } from "../resource-definition";

/** What an installation has from its first day to its last; absent where it is not known. */
export interface InstalledIdentity {
  clusterId?: string | undefined;
  namespace?: string | undefined;
}

const WAY_OUT =
  "remove the peerings and then the installation (take them out of the program, and run pulumi up), and install it anew";

/**
 * What is wrong with a changed identity. Peers know a cluster by its ID, and another namespace is another installation: either change would take
 * the live control plane away under its peerings.
 */
export function identityFaults(olds: InstalledIdentity, news: InstalledIdentity): InputFault[] {
  return [
    ...fault("clusterId", olds.clusterId, news.clusterId, "its peers know the cluster by it"),
    ...fault("namespace", olds.namespace, news.namespace, "its control plane and its state are there"),
  ];
}

function fault(
  property: keyof InstalledIdentity,
  has: string | undefined,
  wanted: string | undefined,
  because: string,
): InputFault[] {
  if (has === undefined || wanted === undefined || has === wanted) return [];
  const reason = `is "${wanted}", but the installation has "${has}", and ${because}. Nothing was changed. Put "${has}" back; or, for "${wanted}", ${WAY_OUT}`;
  return [{ property, reason }];
}

/**
 * Refuses another cluster ID than that of the installation in the namespace, for states that do not tell it. Other namespaces are not asked: what
 * stands there may be anybody's.
 *
 * @throws Error that names the installation that is there
 */
export async function refuseAnother(
  client: KubeClient,
  { clusterId, namespace }: InstalledIdentity,
  { signal }: ProviderContext,
): Promise<void> {
  if (clusterId === undefined || namespace === undefined) return;
  const ref = { name: Name.clusterIDConfigMap, namespace };
  const has = (await client.get(ConfigMap, ref, { signal, deadlineMs: lookMs }))?.data?.[DataKey.clusterID];
  const [found] = identityFaults({ clusterId: has }, { clusterId });
  if (found === undefined) return;
  throw new Error(
    `clusterId ${found.reason} (ConfigMap ${namespace}/${ref.name} at ${client.server} has the ID)`,
  );
}
