import type { ContainerStatus, PodCondition, PodStatus } from "kubernetes-types/core/v1";

/** The phase a pod is put into that its virtual node cannot run. */
export interface Rejection {
  phase: "Pending" | "Succeeded" | "Failed";
  reason: string;
  /** For people; shown by `kubectl describe pod`. */
  message?: string;
}

/**
 * The status of a pod that does not run where it was: not ready, its conditions false for the given reason, and in a final phase every
 * container terminated (offloading reference 11.7, the rejection transform).
 *
 * @param now RFC 3339 time for the conditions that change
 */
export function rejectedStatus(status: PodStatus | undefined, rejection: Rejection, now: string): PodStatus {
  const { phase, reason, message } = rejection;
  const rejected: PodStatus = { ...status, phase, reason };
  if (message === undefined) delete rejected.message;
  else rejected.message = message;

  if (status?.conditions) {
    rejected.conditions = status.conditions.map((condition) => falseCondition(condition, reason, now));
  }
  for (const field of ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"] as const) {
    const containers = status?.[field];
    if (containers) rejected[field] = containers.map((container) => stopped(container, phase, reason));
  }
  return rejected;
}

function falseCondition(condition: PodCondition, reason: string, now: string): PodCondition {
  if (condition.status !== "True") return condition;
  return { ...condition, status: "False", reason, lastTransitionTime: now };
}

function stopped(container: ContainerStatus, phase: Rejection["phase"], reason: string): ContainerStatus {
  const notReady = { ...container, ready: false };
  if (phase === "Pending" || container.state?.terminated !== undefined) return notReady;
  return { ...notReady, state: { terminated: { exitCode: phase === "Succeeded" ? 0 : 1, reason } } };
}
