import type { ContainerStatus, PodStatus } from "kubernetes-types/core/v1";

/** Reasons for which a container waits in the ordinary course of a start. */
const STARTING = new Set(["ContainerCreating", "PodInitializing"]);

/**
 * Whether somebody waits for this change of status. Steps on the way to a start are not urgent: they may wait a moment for what follows, so
 * that a pod that starts normally costs one write.
 */
export function isUrgent(current: PodStatus | undefined, desired: PodStatus): boolean {
  if ((current?.phase ?? "Pending") !== (desired.phase ?? "Pending")) return true;
  if (
    conditionStatus(current, "Ready") !== conditionStatus(desired, "Ready") &&
    conditionStatus(desired, "Ready") === "True"
  ) {
    return true;
  }
  if (desired.phase !== "Pending") return true;
  return fingerprint(current) !== fingerprint(desired);
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
