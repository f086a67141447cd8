import type { ContainerStatus, PodStatus } from "kubernetes-types/core/v1";

/** Reasons for which a container waits in the ordinary course of a start. */
const STARTING = new Set(["ContainerCreating", "PodInitializing"]);

/**
 * Who waits for a change of status: `now`, whoever acts on trouble, an end or a lost readiness; `soon`, whoever counts pods that have started;
 * `later`, nobody: steps on the way to a start may wait a moment for what follows, so that a pod that starts normally costs one write.
 */
export type Urgency = "now" | "soon" | "later";

export function urgencyOf(current: PodStatus | undefined, desired: PodStatus): Urgency {
  const phases = [current?.phase ?? "Pending", desired.phase ?? "Pending"];
  const becomesReady =
    conditionStatus(current, "Ready") !== "True" && conditionStatus(desired, "Ready") === "True";
  if (phases[0] !== phases[1]) return phases[1] === "Running" ? "soon" : "now";
  if (becomesReady) return "soon";
  if (phases[1] !== "Pending") return "now";
  return fingerprint(current) === fingerprint(desired) ? "later" : "now";
}

function conditionStatus(status: PodStatus | undefined, type: string): string {
  return status?.conditions?.find((condition) => condition.type === type)?.status ?? "False";
}

/** What tells a pod in trouble from one that is starting. */
function fingerprint(status: PodStatus | undefined): string {
  const scheduled = status?.conditions?.find(({ type }) => type === "PodScheduled");
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return [
    status?.reason ?? "",
    scheduled?.status === "False" ? `${scheduled.reason}: ${scheduled.message}` : "",
    ...containers.map(troubleOf).filter((trouble) => trouble !== ""),
  ].join("\n");
}

function troubleOf({ name, state, restartCount }: ContainerStatus): string {
  const waiting = state?.waiting?.reason;
  const terminated = state?.terminated;
  const trouble = [
    waiting !== undefined && !STARTING.has(waiting) ? waiting : "",
    terminated !== undefined && terminated.exitCode !== 0 ? `exit code ${terminated.exitCode}` : "",
    restartCount > 0 ? `${restartCount} restarts` : "",
  ].filter((part) => part !== "");
  return trouble.length === 0 ? "" : `${name}: ${trouble.join(", ")}`;
}
