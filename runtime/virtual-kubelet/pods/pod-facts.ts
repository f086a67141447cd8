import type { ShadowPod } from "../../api";
import { Label } from "../../api/keys";
import type { Pod } from "../../api/kubernetes";
import { isTerminal, podOutcome } from "../../offloading/shadow-pod-phase";
import { isReflected, type ReflectionPair } from "../reflection/reflected-metadata";
import { sourceRecordOf } from "../reflection/source-record";
import type { LocalPodView, RemotePodView, ShadowPodView } from "./pod-decision";
import type { PodMemory } from "./pod-memory";

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
  memory: PodMemory,
  nodeName: string,
  pair: ReflectionPair,
): ShadowPodView | undefined {
  if (shadow === undefined) {
    const { created } = memory;
    if (created === undefined) return undefined;
    const deleting = memory.deleted === created.uid;
    return { uid: created.uid, deleting, ours: true, nodeName, sourceUid: created.sourceUid };
  }
  const uid = shadow.metadata.uid ?? "";
  return {
    uid,
    deleting: shadow.metadata.deletionTimestamp != null || memory.deleted === uid,
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
