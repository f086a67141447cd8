import { isDeepStrictEqual } from "node:util";

/**
 * Whether two JSON values mean the same to a reader of the API: fields that are absent, null, or an empty list, map or string count
 * as alike, because writers differ in whether they leave them out.
 */
export function sameContent(left: unknown, right: unknown): boolean {
  return isDeepStrictEqual(withoutEmpty(left), withoutEmpty(right));
}

function withoutEmpty(value: unknown): unknown {
  if (value === null || value === "") return undefined;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(withoutEmpty);
  if (typeof value !== "object") return value;
  const kept: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(value)) {
    const content = withoutEmpty(field);
    if (content !== undefined) kept[key] = content;
  }
  return Object.keys(kept).length === 0 ? undefined : kept;
}
