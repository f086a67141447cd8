import type { PodStatus } from "kubernetes-types/core/v1";

import type { ShadowPod } from "../../api";
import { Label } from "../../api/keys";
import type { Pod } from "../../api/kubernetes";
import { podOutcome } from "../../offloading/shadow-pod-phase";
import { isTerminal } from "../../offloading/shadow-pod-phase";
import { isReflected, type ReflectionPair, sourceRecordOf } from "../reflection/reflected-metadata";
import type { PodExpectations } from "./pod-expectations";
import type { Rejection } from "./pod-status-not-running";

/** The local pod as far as the decision depends on it. */
export interface LocalPodView {
  uid: string;
  deleting: boolean;
  labels?: Record<string, string>;
  status?: PodStatus;
}

/** The ShadowPod as far as the decision depends on it. */
export interface ShadowPodView {
  uid: string;
  deleting: boolean;
  /** Reflected from this consumer to this provider. */
  ours: boolean;
  /** Virtual node that it is bound to. */
  nodeName?: string;
  /** UID of the local pod that it was made for; unknown when upstream Liqo made it. */
  sourceUid?: string;
  phase?: string;
}

/** The remote pod as far as the decision depends on it. */
export interface RemotePodView {
  uid: string;
  ours: boolean;
  nodeName?: string;
  sourceUid?: string;
  phase?: string;
  /** It has a terminal phase only because it is being removed there; the provider makes it anew. */
  endsByRemoval?: boolean;
}

export interface PodFacts {
  nodeName: string;
  local?: LocalPodView;
  shadow?: ShadowPodView;
  remote?: RemotePodView;
}

/** What to do about one pod of a virtual node. */
export type PodDecision =
  | { do: "nothing" }
  /** An object of that name exists at the provider that is none of ours. */
  | { do: "report-conflict" }
  | { do: "delete-shadow-pod"; uid: string }
  /** The remote pod has ended: the local one ends without further grace. */
  | { do: "delete-local-pod"; uid: string }
  | { do: "create-shadow-pod" }
  /** Bring the ShadowPod's metadata up to date where asked, then the local status, if there is a remote pod yet. */
  | { do: "reflect"; metadata: boolean; remote: boolean }
  /** The remote pod is gone for good; its outcome is known from the ShadowPod. */
  | { do: "finish"; rejection: Rejection };

/** Reason of a pod that was given up because its namespace is no longer offloaded. It is never offloaded again. */
const OFFLOADING_ABORTED = "OffloadingAborted";
/** Reason of a pod that waits for its namespace to be offloaded. */
const OFFLOADING_BACK_OFF = "OffloadingBackOff";
const REMOTE_POD_TERMINATED = "RemotePodTerminated";

const NOTHING: PodDecision = { do: "nothing" };

/** Decides from the present objects alone (offloading reference 11.2). */
export function decidePod({ nodeName, local, shadow, remote }: PodFacts): PodDecision {
  if (isForeign(shadow) || isForeign(remote))
    return local === undefined ? NOTHING : { do: "report-conflict" };

  const mine = shadow !== undefined && shadow.nodeName === nodeName;
  if (local === undefined) return mine ? deleteShadow(shadow) : NOTHING;
  const stale = shadow?.sourceUid !== undefined && shadow.sourceUid !== local.uid;
  if (mine && stale) return deleteShadow(shadow);

  // Another node's, or an earlier incarnation's, remote pod says nothing about this one.
  const current = remote?.nodeName === nodeName && !isStale(remote, local) ? remote : undefined;
  if (local.deleting) return decideTerminating(local, mine ? shadow : undefined, current);

  const phase = local.status?.phase;
  if (phase === "Failed" && local.status?.reason === OFFLOADING_ABORTED) {
    return mine ? deleteShadow(shadow) : NOTHING;
  }
  const ended = phase === "Succeeded" || phase === "Failed";
  if (ended && (current === undefined || current.phase === phase)) return NOTHING;

  if (shadow === undefined) return { do: "create-shadow-pod" };
  if (!mine || shadow.deleting) return NOTHING; // its deletion comes back as an event
  if (current === undefined) return decideWithoutRemote(shadow, local);
  const metadata = local.labels?.[Label.remoteUnavailable] !== "true";
  return { do: "reflect", metadata, remote: current.endsByRemoval !== true };
}

function decideTerminating(
  local: LocalPodView,
  shadow: ShadowPodView | undefined,
  remote: RemotePodView | undefined,
): PodDecision {
  if (shadow === undefined && remote === undefined) return { do: "delete-local-pod", uid: local.uid };
  if (shadow !== undefined && !shadow.deleting) return deleteShadow(shadow);
  return remote === undefined ? NOTHING : { do: "reflect", metadata: false, remote: true };
}

function decideWithoutRemote(shadow: ShadowPodView, local: LocalPodView): PodDecision {
  if (shadow.phase === "Succeeded" || shadow.phase === "Failed") {
    return { do: "finish", rejection: { phase: shadow.phase, reason: REMOTE_POD_TERMINATED } };
  }
  return { do: "reflect", metadata: local.labels?.[Label.remoteUnavailable] !== "true", remote: false };
}

function deleteShadow({ uid, deleting }: ShadowPodView): PodDecision {
  return deleting ? NOTHING : { do: "delete-shadow-pod", uid };
}

function isForeign(object: { ours: boolean } | undefined): boolean {
  return object !== undefined && !object.ours;
}

function isStale(remote: RemotePodView, local: LocalPodView): boolean {
  return remote.sourceUid !== undefined && remote.sourceUid !== local.uid;
}

/** Decides about a pod bound to the node whose namespace is not offloaded to its provider (offloading reference 11.9). */
export function decideNotOffloaded(
  local: LocalPodView | undefined,
): { do: "nothing" } | { do: "delete-local-pod"; uid: string } | { do: "reject"; rejection: Rejection } {
  if (local === undefined) return { do: "nothing" };
  if (local.deleting) return { do: "delete-local-pod", uid: local.uid };
  const { phase = "Pending", containerStatuses } = local.status ?? {};
  if (phase === "Succeeded" || phase === "Failed") return { do: "nothing" };
  const neverStarted = phase === "Pending" && (containerStatuses ?? []).length === 0;
  return {
    do: "reject",
    rejection: neverStarted
      ? { phase: "Pending", reason: OFFLOADING_BACK_OFF }
      : { phase: "Failed", reason: OFFLOADING_ABORTED },
  };
}

/** The parts of the cached objects that decisions look at. */

export function viewOfLocal({ metadata, status }: Pod): LocalPodView {
  return {
    uid: metadata.uid ?? "",
    deleting: metadata.deletionTimestamp != null,
    labels: metadata.labels,
    status,
  };
}

/** The ShadowPod as the cache has it, or as we made it and the cache does not show yet. */
export function viewOfShadow(
  shadow: ShadowPod | undefined,
  expected: PodExpectations,
  nodeName: string,
  pair: ReflectionPair,
): ShadowPodView | undefined {
  if (shadow === undefined) {
    const { created } = expected;
    if (created === undefined) return undefined;
    const deleting = expected.deleted === created.uid;
    return { uid: created.uid, deleting, ours: true, nodeName, sourceUid: created.sourceUid };
  }
  const uid = shadow.metadata.uid ?? "";
  return {
    uid,
    deleting: shadow.metadata.deletionTimestamp != null || expected.deleted === uid,
    ours: isReflected(shadow, pair),
    nodeName: shadow.metadata.labels?.[Label.reflectionNodeName],
    sourceUid: sourceRecordOf(shadow)?.uid,
    phase: shadow.status?.phase,
  };
}

export function viewOfRemote(pod: Pod | undefined, pair: ReflectionPair): RemotePodView | undefined {
  if (pod === undefined) return undefined;
  return {
    uid: pod.metadata.uid ?? "",
    ours: isReflected(pod, pair),
    nodeName: pod.metadata.labels?.[Label.reflectionNodeName],
    sourceUid: sourceRecordOf(pod)?.uid,
    phase: pod.status?.phase,
    endsByRemoval: isTerminal(pod.status?.phase) && podOutcome(pod) === undefined,
  };
}
