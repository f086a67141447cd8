import type { PodStatus } from "kubernetes-types/core/v1";

/** The fields of a provider's pod that its outcome depends on. */
interface EndedPod {
  metadata: { deletionTimestamp?: string | null };
  spec?: { restartPolicy?: string };
  status?: Pick<PodStatus, "phase" | "conditions">;
}

/** Reasons of the condition `DisruptionTarget` after which Kubernetes deletes the pod; with any other reason the failed pod stays. */
const DELETION_REASONS: ReadonlySet<string> = new Set([
  "DeletionByPodGC",
  "DeletionByTaintManager",
  "EvictionByEvictionAPI",
  "PreemptionByScheduler",
]);

/**
 * Whether a pod is being removed rather than done: it is being deleted, or failed by a disruption that deletes it next. Kubelets and the pod
 * garbage collector write a terminal phase on such pods too; that is no outcome, and the pod is recreated.
 */
export function isBeingRemoved({ metadata, status }: EndedPod): boolean {
  if (typeof metadata.deletionTimestamp === "string") return true;
  const disruption = status?.conditions?.find(({ type }) => type === "DisruptionTarget");
  return disruption?.status === "True" && DELETION_REASONS.has(disruption.reason ?? "");
}

/**
 * The final outcome of a pod; undefined while it has none, or when it only ends because it is being removed. A pod that is not restarted after
 * success has succeeded even then.
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
 * The phase to write into a ShadowPod's status; undefined when the current one stays. A terminal phase never changes. We write only that the pod
 * runs and how it ended: no reader distinguishes `Unknown` from `Pending`.
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
