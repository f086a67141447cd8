import type { ContainerStatus, PodCondition, PodStatus } from "kubernetes-types/core/v1";

import { conditionStatus } from "../../kube";
import { defined } from "../reflection/reflected-metadata";

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

/** Reason of a pod whose remote pod is gone, or may not be seen, while the provider lets none be made. */
const REMOTE_POD_LOST = "RemotePodLost";

/** Reason of a pod that waits because the provider does not take it as it is. */
const OFFLOADING_REFUSED = "OffloadingRefused";

const READINESS = ["Ready", "ContainersReady"];

/**
 * The status of a pod that was ready and whose remote pod is gone or may not be read. It keeps its phase, because the remote pod may come back, and is not
 * ready, so that Services skip it.
 *
 * @param why for people; shown by `kubectl describe pod`
 * @param now RFC 3339 time for the conditions that change
 * @returns nothing where the pod is not ready anyway
 */
export function lostStatus(status: PodStatus | undefined, why: string, now: string): PodStatus | undefined {
  if (status?.conditions === undefined || conditionStatus(status.conditions, "Ready") !== "True")
    return undefined;
  const lost: PodStatus = { ...status, conditions: status.conditions.map((one) => notReady(one, why, now)) };
  if (status.containerStatuses !== undefined) {
    lost.containerStatuses = status.containerStatuses.map((container) => ({ ...container, ready: false }));
  }
  return lost;
}

/**
 * The status of a pod that never ran and that the provider refuses: it stays Pending, with the reason.
 *
 * @returns nothing where the pod has begun, or has ended
 */
export function refusedStatus(status: PodStatus | undefined, why: string): PodStatus | undefined {
  const { phase = "Pending", containerStatuses = [] } = status ?? {};
  if (phase !== "Pending" || containerStatuses.length > 0) return undefined;
  return { ...status, phase, reason: OFFLOADING_REFUSED, message: why };
}

/** The status of a pod that the provider has accepted, without an earlier refusal. */
export function takenStatus(status: PodStatus | undefined): PodStatus {
  const { reason, message, ...rest } = status ?? {};
  return reason === OFFLOADING_REFUSED ? rest : { ...rest, ...defined({ reason, message }) };
}

function notReady(condition: PodCondition, why: string, now: string): PodCondition {
  if (!READINESS.includes(condition.type) || condition.status !== "True") return condition;
  return { ...condition, status: "False", reason: REMOTE_POD_LOST, message: why, lastTransitionTime: now };
}
