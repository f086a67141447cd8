import type { PodStatus } from "kubernetes-types/core/v1";

/** A pod at the provider as far as its outcome depends on it. */
export interface EndedPod {
  metadata: { deletionTimestamp?: string | null };
  spec?: { restartPolicy?: string };
  status?: Pick<PodStatus, "phase" | "conditions">;
}

/** Reasons of the condition `DisruptionTarget` that announce a deletion by Kubernetes itself; others leave the failed pod in place. */
const DELETION_REASONS: ReadonlySet<string> = new Set([
  "DeletionByPodGC",
  "DeletionByTaintManager",
  "EvictionByEvictionAPI",
  "PreemptionByScheduler",
]);

/**
 * Whether a pod is being removed rather than done: it is being deleted, or marked as failed for a deletion that follows at once. Kubelets and
 * the pod garbage collector write a terminal phase on such pods too, which is no outcome: the pod is made anew.
 */
export function isBeingRemoved({ metadata, status }: EndedPod): boolean {
  if (typeof metadata.deletionTimestamp === "string") return true;
  const disruption = status?.conditions?.find(({ type }) => type === "DisruptionTarget");
  return disruption?.status === "True" && DELETION_REASONS.has(disruption.reason ?? "");
}

/**
 * How a pod ended, once and for all; undefined while it has not, or when it only ends because it is being removed. A pod that is not
 * restarted after success has done its work even then.
 */
export function podOutcome(pod: EndedPod): "Succeeded" | "Failed" | undefined {
  const phase = pod.status?.phase;
  if (phase !== "Succeeded" && phase !== "Failed") return undefined;
  if (!isBeingRemoved(pod)) return phase;
  const finite = pod.spec?.restartPolicy !== undefined && pod.spec.restartPolicy !== "Always";
  return phase === "Succeeded" && finite ? phase : undefined;
}
