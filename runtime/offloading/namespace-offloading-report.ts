import { type NamespaceMap, NamespaceOffloading } from "../api";
import { conditionStatus, patchStatusIfChanged, timestamp } from "../kube";
import { ownEntry } from "../plan/peer-objects";
import type { OffloadingContext } from "./context";
import {
  type MappingPhase,
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
    const before = known(previous[map.metadata.name]);
    const { phase, remoteNamespace = wanted } = answerFor(namespace, map, before) ?? {};
    const remote = {
      requested,
      ...(phase === undefined ? {} : { phase }),
      ...(remoteNamespace === undefined ? {} : { name: remoteNamespace }),
      ...(refusal === undefined ? {} : { refusal }),
    };
    if (deleting && !requested && phase === undefined) continue;
    remotes.push(remote);
    const { name } = map.metadata;
    conditions[name] = remoteNamespaceConditions(before, remote, timestamp(clock));
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

/**
 * What a provider says of a namespace, as far as it was asked. An answer under another name is none to what is wanted; one about a namespace that
 * was never mapped there would hold up the namespace for the sake of the other providers.
 */
export function answerFor(
  namespace: string,
  map: NamespaceMap,
  before: readonly RemoteNamespaceCondition[],
): { phase?: MappingPhase; remoteNamespace?: string } | undefined {
  const answer = ownEntry(map.status?.currentMapping, namespace);
  const wanted = ownEntry(map.spec.desiredMapping, namespace);
  if (answer === undefined) return undefined;
  if (wanted !== undefined) {
    const redirected = answer.phase === "Accepted" && (answer.remoteNamespace ?? wanted) !== wanted;
    return redirected ? undefined : answer;
  }
  const concerned =
    conditionStatus(before, "OffloadingRequired") === "True" || before.some(({ type }) => type === "Ready");
  return concerned ? answer : undefined;
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
