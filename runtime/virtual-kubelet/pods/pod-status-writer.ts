import type { ContainerStatus, PodCondition, PodStatus } from "kubernetes-types/core/v1";
import { isDeepStrictEqual } from "node:util";

import { Label, LabelValue } from "../../api/keys";
import { Pod } from "../../api/kubernetes";
import type { Clock, KubeClient, Outcome } from "../../kube";
import type { PodExpectations } from "./pod-expectations";

/**
 * How long a change of status of urgency `later` is delayed: twice as long as the last pod took to start, within these bounds, in milliseconds. When
 * many pods start at once, each of them takes longer.
 */
const HOLD_MS = { least: 5_000, most: 60_000 };

/** Writes the status of local pods in as few requests as possible. */
export class PodStatusWriter {
  private lastStartMs = 0;
  private readonly starts: WriteBatches;

  constructor(
    private readonly client: KubeClient,
    private readonly clock: Clock,
  ) {
    this.starts = new WriteBatches(clock);
  }

  /**
   * Writes what differs, together with the label that marks the pod as taken over: one request, and none where nothing differs.
   *
   * @param takeOver whether the pod is to carry the label
   * @returns when to requeue, where the change is delayed
   */
  async write(pod: Pod, desired: PodStatus, expected: PodExpectations, takeOver: boolean): Promise<Outcome> {
    const { uid, name, namespace, resourceVersion, labels } = pod.metadata;
    // The cache may not show our own last write yet; the difference is then to what we wrote.
    const stale = expected.written !== undefined && expected.written.version === resourceVersion;
    const current = stale ? expected.written?.status : pod.status;
    const status = statusPatch(current, desired);
    const label = takeOver && !stale && labels?.[Label.shadowPod] !== LabelValue.true;
    if (status === undefined && !label) {
      delete expected.heldSince;
      delete expected.startDueAt;
      return;
    }
    const waitMs = this.waitMs(urgencyOf(current, desired), expected);
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    const body = {
      metadata: { uid, ...(label ? { labels: { [Label.shadowPod]: LabelValue.true } } : {}) },
      ...(status === undefined ? {} : { status }),
    };
    await this.client.patchForMetadata(Pod, { name, namespace }, body, {
      type: "strategic",
      subresource: "status",
    });
    if (expected.heldSince !== undefined) this.lastStartMs = this.clock.monotonic() - expected.heldSince;
    delete expected.heldSince;
    delete expected.startDueAt;
    expected.written = { version: resourceVersion, status: desired };
  }

  private waitMs(urgency: Urgency, expected: PodExpectations): number {
    switch (urgency) {
      case "now":
        return 0;
      case "soon":
        expected.startDueAt ??= this.starts.turn();
        return expected.startDueAt - this.clock.monotonic();
      case "later":
        return this.hold(expected);
    }
  }

  /** @returns how much longer, in milliseconds */
  private hold(expected: PodExpectations): number {
    const now = this.clock.monotonic();
    expected.heldSince ??= now;
    const holdMs = Math.min(HOLD_MS.most, Math.max(HOLD_MS.least, 2 * this.lastStartMs));
    return expected.heldSince + holdMs - now;
  }
}

/** Reasons for which a container waits in the ordinary course of a start. */
const STARTING = new Set(["ContainerCreating", "PodInitializing"]);

/**
 * How urgent a change of status is. `now`: trouble, an end or a lost readiness, which controllers act on. `soon`: a start, which controllers count.
 * `later`: a step on the way to a start, which waits for the next one, so that a pod that starts normally costs one write.
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

/** What differs between a pod in trouble and one that is starting. */
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

/** How many writes go at once before batches begin, and how soon one of these is free again. */
const FREE = { most: 20, eachMs: 500 };
/** How long after each other batches go, in milliseconds. */
const APART_MS = 400;

/**
 * Schedules writes: at once where they are few, in batches where many are due. Each status makes the ReplicaSet controller count all pods again and
 * write the result, so a batch costs the consumer's control plane less than the same writes one after the other.
 */
export class WriteBatches {
  private free = FREE.most;
  private countedAt: number;
  private nextAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly clock: Clock) {
    this.countedAt = clock.monotonic();
  }

  /** @returns when to write, on the monotonic clock */
  turn(): number {
    const now = this.clock.monotonic();
    this.free = Math.min(FREE.most, this.free + (now - this.countedAt) / FREE.eachMs);
    this.countedAt = now;
    if (this.free >= 1) {
      this.free -= 1;
      return now;
    }
    if (now >= this.nextAt) this.nextAt = now + APART_MS;
    return this.nextAt;
  }
}

/** Lists that the API server merges by key, so that a replacement has to be asked for. */
const MERGED_BY_KEY = new Set(["podIPs", "hostIPs"]);

/**
 * The difference between two statuses as the `status` of a strategic merge patch; undefined when there is none. Conditions are merged by type,
 * so that one which another controller sets in the meantime survives.
 */
export function statusPatch(
  current: PodStatus | undefined,
  desired: PodStatus,
): Record<string, unknown> | undefined {
  const before: Record<string, unknown> = { ...current };
  const after: Record<string, unknown> = { ...desired };
  const patch: Record<string, unknown> = {};
  for (const field of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (field === "conditions" || isDeepStrictEqual(before[field], after[field])) continue;
    if (isEmpty(before[field]) && isEmpty(after[field])) continue;
    patch[field] = changed(field, after[field]);
  }
  const conditions = conditionsPatch(current?.conditions ?? [], desired.conditions ?? []);
  if (conditions.length > 0) patch.conditions = conditions;
  return Object.keys(patch).length === 0 ? undefined : patch;
}

function changed(field: string, value: unknown): unknown {
  if (value === undefined) return null;
  if (!MERGED_BY_KEY.has(field) || !Array.isArray(value)) return value;
  const entries: unknown[] = value;
  return [...entries, { $patch: "replace" }];
}

/** The API server leaves out what is empty. */
function isEmpty(value: unknown): boolean {
  return (
    value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0)
  );
}

function conditionsPatch(current: readonly PodCondition[], desired: readonly PodCondition[]): unknown[] {
  const patch: unknown[] = [];
  for (const condition of desired) {
    const before = current.find(({ type }) => type === condition.type);
    if (before === undefined) patch.push(condition);
    else if (!sameCondition(before, condition))
      patch.push({ ...removedFields(before, condition), ...condition });
  }
  for (const { type } of current) {
    if (!desired.some((condition) => condition.type === type)) patch.push({ type, $patch: "delete" });
  }
  return patch;
}

function sameCondition(before: PodCondition, after: PodCondition): boolean {
  return (
    before.status === after.status &&
    (before.reason ?? "") === (after.reason ?? "") &&
    (before.message ?? "") === (after.message ?? "") &&
    (before.lastTransitionTime ?? null) === (after.lastTransitionTime ?? null)
  );
}

function removedFields(before: PodCondition, after: PodCondition): Record<string, null> {
  const removed: Record<string, null> = {};
  for (const key of ["reason", "message"] as const) {
    if (before[key] !== undefined && after[key] === undefined) removed[key] = null;
  }
  return removed;
}
