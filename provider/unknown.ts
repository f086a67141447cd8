/**
 * Values that the engine does not know yet. In a preview they reach `check` and `diff` as marker strings in the place of the value,
 * whatever its type (one marker a type, fixed by the engine's protocol).
 */

const markers: ReadonlySet<unknown> = new Set([
  "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7", // bool
  "3eeb2bf0-c639-47a8-9e75-3b44932eb421", // number
  "04da6b54-80e4-46f7-96ec-b56ff0331ba9", // string, and what the Node SDK sends for everything
  "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2", // array
  "030794c1-ac77-496b-92df-f27374a8bd58", // asset
  "e48ece36-62e2-4504-bad9-02848725956a", // archive
  "dd056dcd-154b-4c76-9bd3-c8f88648b5ff", // object
]);

/** Whether a value is not known yet, as a whole. */
export function isUnknown(value: unknown): boolean {
  return markers.has(value);
}

/** Whether a value, or anything in it, is not known yet. */
export function hasUnknown(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return isUnknown(value);
  return Object.values(value).some(hasUnknown);
}
