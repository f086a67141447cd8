import { isDeepStrictEqual } from "node:util";

/** A JSON object as it is read or written. */
export type Json = Record<string, unknown>;

/**
 * The fields of a merge patch that turn `existing` into what is desired, looking only at `fields`; undefined when nothing differs. A field that is
 * not desired is removed where it exists. What is empty counts as missing, because the API server leaves it out.
 */
export function mergePatch(existing: Json, desired: Json, fields: readonly string[]): Json | undefined {
  const patch: Json = {};
  for (const field of fields) {
    if (same(existing[field], desired[field])) continue;
    patch[field] = replacement(existing[field], desired[field]);
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

function same(existing: unknown, desired: unknown): boolean {
  return (isEmpty(existing) && isEmpty(desired)) || isDeepStrictEqual(existing, desired);
}

/** A merge patch descends into objects, so keys that are to go must be named. Lists are replaced as they are. */
function replacement(existing: unknown, desired: unknown): unknown {
  if (desired === undefined) return null;
  if (!isJson(existing) || !isJson(desired)) return desired;
  const patch: Json = {};
  for (const [key, value] of Object.entries(desired)) {
    if (!isDeepStrictEqual(existing[key], value)) patch[key] = replacement(existing[key], value);
  }
  for (const key of Object.keys(existing)) if (!(key in desired)) patch[key] = null;
  return patch;
}

function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "" || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJson(value) && Object.keys(value).length === 0;
}

/**
 * Whether `existing` has everything that is desired, to every depth: lists of the same length, and in objects the desired fields, whatever the
 * API server or others added beside them.
 */
export function covers(existing: unknown, desired: unknown): boolean {
  if (desired === undefined) return true;
  if (Array.isArray(desired)) {
    const list: unknown[] = desired;
    return (
      Array.isArray(existing) &&
      existing.length === list.length &&
      list.every((item, i) => covers(existing[i], item))
    );
  }
  if (!isJson(desired))
    return isDeepStrictEqual(existing, desired) || (isEmpty(existing) && isEmpty(desired));
  return isJson(existing)
    ? Object.entries(desired).every(([key, value]) => covers(existing[key], value))
    : isEmpty(desired);
}
