import type { PodCondition } from "kubernetes-types/core/v1";

/** Reason of a pod whose containers are ready and one of whose gates is not, as kubelets write it. */
const NOT_MET = "ReadinessGatesNotReady";

/**
 * Conditions of a pod with Ready as a kubelet of this cluster would set it: once the containers are ready and each gate of the pod's spec is met. The gates'
 * conditions are set by controllers here, which the provider knows nothing of, so the remote pod has no gates (one that upstream Liqo made has them, and
 * waits for them for ever).
 *
 * @param gates types of the conditions that the pod waits for
 * @param before the present Ready condition, whose time stays while its status does
 * @param now RFC 3339
 */
export function withReadinessGates(
  conditions: PodCondition[],
  gates: readonly string[],
  before: PodCondition | undefined,
  now: string,
): PodCondition[] {
  const ready = conditions.find(({ type }) => type === "Ready");
  if (gates.length === 0 || ready === undefined || !isReadyButForGates(ready, conditions)) return conditions;
  const unmet = gates.flatMap((type) => problemOf(type, conditions));
  const status = unmet.length === 0 ? "True" : "False";
  const decided: PodCondition = {
    type: "Ready",
    status,
    ...(unmet.length > 0 && { reason: NOT_MET, message: unmet.join(", ") }),
    lastTransitionTime: (before?.status === status ? before.lastTransitionTime : undefined) ?? now,
  };
  return conditions.map((condition) => (condition === ready ? decided : condition));
}

function isReadyButForGates(ready: PodCondition, conditions: readonly PodCondition[]): boolean {
  const containers = conditions.find(({ type }) => type === "ContainersReady");
  return ready.status === "True" || (ready.reason === NOT_MET && containers?.status === "True");
}

/** In the words of a kubelet. */
function problemOf(type: string, conditions: readonly PodCondition[]): string[] {
  const status = conditions.find((condition) => condition.type === type)?.status;
  if (status === undefined)
    return [`corresponding condition of pod readiness gate "${type}" does not exist.`];
  return status === "True" ? [] : [`the status of pod readiness gate "${type}" is not "True", but ${status}`];
}
