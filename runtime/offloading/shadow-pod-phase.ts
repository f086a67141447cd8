import type { PodStatus } from "kubernetes-types/core/v1";

/** A pod at the provider as far as its outcome depends on it. */
interface EndedPod {
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

type ShadowPodPhase = "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";

export function isTerminal(phase: string | undefined): phase is "Succeeded" | "Failed" {
  return phase === "Succeeded" || phase === "Failed";
}

/**
 * The phase to write into a ShadowPod's status; undefined when what stands there will do. A terminal phase stays for ever. Only what
 * somebody reads is written: that the pod runs, and how it ended; between `Unknown` and `Pending` nobody makes a difference.
 *
 * @see offloading reference 12.1
 */
export function phaseToReport(current: string | undefined, pod: EndedPod): ShadowPodPhase | undefined {
  if (isTerminal(current)) return undefined;
  const outcome = podOutcome(pod);
  if (outcome !== undefined) return outcome;
  const running = pod.status?.phase === "Running" && !isBeingRemoved(pod);
  return running && current !== "Running" ? "Running" : undefined;
}
