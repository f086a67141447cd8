import { ConditionReason, type NamespaceMap, NamespaceOffloading } from "../api";
import { isKubernetesNamespace } from "./remote-namespace-name";
import { conditionStatus, patchStatusIfChanged, timestamp } from "../kube";
import { ownEntry } from "../plan/peer-objects";
import type { OffloadingContext } from "./context";

export type MappingPhase = "Accepted" | "CreationLoopBackOff" | "Terminating";

export type OffloadingPhase =
  "Ready" | "NoClusterSelected" | "InProgress" | "SomeFailed" | "AllFailed" | "Terminating";

/** What one NamespaceMap says of a namespace. */
export interface RemoteNamespace {
  /** The namespace is in the map's desired mapping, or would be but for a refusal. */
  requested: boolean;
  /** Phase that the provider reports; absent while it reports none. */
  phase?: MappingPhase;
  /** Its name at the provider, as the map has it; absent where the map has none. */
  name?: string;
  /** Why it is kept out of the map, though its cluster is selected: another namespace has its remote name. */
  refusal?: string;
}

export interface RemoteNamespaceCondition {
  type: "OffloadingRequired" | "Ready";
  status: "True" | "False";
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

type DesiredCondition = Required<Pick<RemoteNamespaceCondition, "type" | "status" | "reason" | "message">>;

/**
 * The conditions of one remote namespace. An entry is replaced only where its status or reason differs, so that an unchanged
 * state gives an equal list.
 *
 * @see offloading reference 4.2
 */
export function remoteNamespaceConditions(
  previous: readonly RemoteNamespaceCondition[] | undefined,
  remote: RemoteNamespace,
  now: string,
): RemoteNamespaceCondition[] {
  return desiredConditions(remote).map((desiredCondition) => {
    const before = previous?.find((condition) => condition.type === desiredCondition.type);
    const same =
      before?.status === desiredCondition.status &&
      before.reason === desiredCondition.reason &&
      !renamed(before, desiredCondition);
    return same ? before : { ...desiredCondition, lastTransitionTime: now };
  });
}

/** Who has the remote name may change; other reasons have one message each. */
function renamed(before: RemoteNamespaceCondition, desiredCondition: DesiredCondition): boolean {
  return (
    desiredCondition.reason === ConditionReason.remoteNamespaceTaken &&
    before.message !== desiredCondition.message
  );
}

function desiredConditions({ requested, phase, name = "", refusal }: RemoteNamespace): DesiredCondition[] {
  const required: DesiredCondition = requested
    ? {
        type: "OffloadingRequired",
        status: "True",
        reason: ConditionReason.clusterSelected,
        message: "The remote cluster has been selected through the ClusterSelector field",
      }
    : {
        type: "OffloadingRequired",
        status: "False",
        reason: ConditionReason.clusterNotSelected,
        message: "The remote cluster has not been selected through the ClusterSelector field",
      };
  if (refusal !== undefined) {
    const { remoteNamespaceTaken: reason } = ConditionReason;
    return [required, { type: "Ready", status: "False", reason, message: refusal }];
  }
  return requested || phase !== undefined ? [required, readiness(phase, name)] : [required];
}

function readiness(phase: MappingPhase | undefined, name: string): DesiredCondition {
  switch (phase) {
    case "Accepted":
      return {
        type: "Ready",
        status: "True",
        reason: ConditionReason.namespaceCreated,
        message: "Namespace correctly offloaded to the remote cluster",
      };
    case "CreationLoopBackOff":
      return {
        type: "Ready",
        status: "False",
        reason: ConditionReason.namespaceCreationLoopBackOff,
        message: `Some problems occurred during remote namespace creation: ${creationProblem(name)}`,
      };
    case "Terminating":
      return {
        type: "Ready",
        status: "False",
        reason: ConditionReason.namespaceTerminating,
        message: "The remote namespace is being deleted",
      };
    case undefined:
      return {
        type: "Ready",
        status: "False",
        reason: ConditionReason.namespaceCreating,
        message: "The remote namespace is being created",
      };
  }
}

/** The provider says only that it could not: why, as far as the name tells, and what helps. */
function creationProblem(name: string): string {
  const another =
    "delete the NamespaceOffloading, and create it with the strategy DefaultName, or SelectedName and another remoteNamespaceName";
  return isKubernetesNamespace(name)
    ? `the provider has the namespace "${name}" as Kubernetes' own, and gives it to no consumer; ${another}`
    : `the provider could not create the namespace "${name}", most likely because one of that name is there and belongs to somebody else; have the provider delete that one, or ${another}`;
}

/**
 * The phase of the whole. Only requested namespaces count: one that is on its way out says nothing of those that are wanted.
 *
 * @param remotes one entry a NamespaceMap
 * @param waiting clusters that are selected but have no NamespaceMap yet
 */
export function offloadingPhase(
  remotes: readonly RemoteNamespace[],
  { deleting, waiting = 0 }: { deleting: boolean; waiting?: number },
): OffloadingPhase {
  if (deleting) return "Terminating";
  const requested = remotes.filter((remote) => remote.requested);
  const wanted = requested.length + waiting;
  const ready = requested.filter(
    ({ phase, refusal }) => phase === "Accepted" && refusal === undefined,
  ).length;
  const failed = requested.filter(
    ({ phase, refusal }) => phase === "CreationLoopBackOff" || refusal !== undefined,
  ).length;
  if (wanted === 0) return "NoClusterSelected";
  if (ready === wanted) return "Ready";
  if (failed === wanted) return "AllFailed";
  return failed > 0 ? "SomeFailed" : "InProgress";
}

/** What a status is made from. */
interface StatusFacts {
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
