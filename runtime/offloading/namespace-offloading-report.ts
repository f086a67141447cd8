import { type NamespaceMap, NamespaceOffloading } from "../api";
import { patchStatusIfChanged, timestamp } from "../kube";
import type { OffloadingContext } from "./context";
import {
  offloadingPhase,
  type RemoteNamespace,
  type RemoteNamespaceCondition,
  remoteNamespaceConditions,
} from "./namespace-offloading-status";

/** What a status is made from. */
export interface StatusFacts {
  /** By cluster. */
  maps: ReadonlyMap<string, NamespaceMap>;
  /** How many selected clusters have no map yet. */
  waiting: number;
  /** Why the namespace is kept out of a map, by cluster. */
  refusals?: ReadonlyMap<string, string>;
  deleting: boolean;
  remoteName?: string | undefined;
}

/** Tells on a NamespaceOffloading how far its remote namespaces are. @returns it as it then is */
export async function writeStatus(
  offloading: NamespaceOffloading,
  { maps, waiting, refusals, deleting, remoteName }: StatusFacts,
  { client, clock }: OffloadingContext,
): Promise<NamespaceOffloading> {
  const namespace = offloading.metadata.namespace ?? "";
  const previous = offloading.status?.remoteNamespacesConditions ?? {};
  const conditions: Record<string, RemoteNamespaceCondition[]> = {};
  const remotes: RemoteNamespace[] = [];
  for (const [cluster, map] of maps) {
    const refusal = refusals?.get(cluster);
    const wanted = map.spec.desiredMapping?.[namespace];
    const requested = refusal !== undefined || wanted !== undefined;
    const { phase, remoteNamespace = wanted } = map.status?.currentMapping?.[namespace] ?? {};
    const remote = {
      requested,
      ...(phase === undefined ? {} : { phase }),
      ...(remoteNamespace === undefined ? {} : { name: remoteNamespace }),
      ...(refusal === undefined ? {} : { refusal }),
    };
    if (deleting && !requested && phase === undefined) continue;
    remotes.push(remote);
    const { name } = map.metadata;
    conditions[name] = remoteNamespaceConditions(known(previous[name]), remote, timestamp(clock));
  }
  const { object } = await patchStatusIfChanged(
    client,
    NamespaceOffloading,
    offloading,
    {
      offloadingPhase: offloadingPhase(remotes, { deleting, waiting }),
      observedGeneration: offloading.metadata.generation,
      ...(remoteName === undefined ? {} : { remoteNamespaceName: remoteName }),
      remoteNamespacesConditions: conditions,
    },
    { exact: ["remoteNamespacesConditions"], lock: "never" },
  );
  return object;
}

/** What stands in a status, as far as it is one of ours. */
function known(
  conditions: readonly { type: string; status: string }[] | undefined,
): RemoteNamespaceCondition[] {
  return (conditions ?? []).filter(
    (condition): condition is RemoteNamespaceCondition =>
      (condition.type === "OffloadingRequired" || condition.type === "Ready") &&
      (condition.status === "True" || condition.status === "False"),
  );
}
