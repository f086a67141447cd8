import { isDeepStrictEqual } from "node:util";

import { isRecord } from "../api/invalid-object";

/**
 * The first difference between two pod specs of a ShadowPod that an update may not make; undefined when there is none. As with pods, only
 * images, `activeDeadlineSeconds` and tolerations may change: the Pod exists already, and nothing else reaches it.
 *
 * @returns the field's path, such as `spec.pod.containers[0].env`
 * @see offloading reference 16.4
 */
export function frozenDifference(before: unknown, after: unknown): string | undefined {
  const path = "spec.pod";
  if (!isRecord(before) || !isRecord(after)) return isDeepStrictEqual(before, after) ? undefined : path;
  for (const field of fieldsOf(before, after)) {
    if (field === "activeDeadlineSeconds" || field === "tolerations") continue;
    const difference =
      field === "containers" || field === "initContainers"
        ? containersDifference(`${path}.${field}`, before[field], after[field])
        : plainDifference(`${path}.${field}`, before[field], after[field]);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function containersDifference(path: string, before: unknown, after: unknown): string | undefined {
  if (!Array.isArray(before) || !Array.isArray(after) || before.length !== after.length)
    return plainDifference(path, before, after);
  for (const [index, container] of before.entries()) {
    const other: unknown = after[index];
    if (!isRecord(container) || !isRecord(other)) {
      if (!isDeepStrictEqual(container, other)) return `${path}[${index}]`;
      continue;
    }
    for (const field of fieldsOf(container, other)) {
      if (field !== "image" && !isDeepStrictEqual(container[field], other[field]))
        return `${path}[${index}].${field}`;
    }
  }
  return undefined;
}

/** An absent field and an empty list or map mean the same in a pod. */
function plainDifference(path: string, before: unknown, after: unknown): string | undefined {
  return isDeepStrictEqual(orAbsent(before), orAbsent(after)) ? undefined : path;
}

function orAbsent(value: unknown): unknown {
  if (value === null) return undefined;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value;
  return isRecord(value) && Object.keys(value).length === 0 ? undefined : value;
}

function fieldsOf(a: Record<string, unknown>, b: Record<string, unknown>): Set<string> {
  return new Set([...Object.keys(a), ...Object.keys(b)]);
}
