import type { PodCondition, PodStatus } from "kubernetes-types/core/v1";
import { isDeepStrictEqual } from "node:util";

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
