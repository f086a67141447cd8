import { TemplateError } from "./tokens";

/**
 * What templates work on. A record is a Go struct: it has its fields and no others. A Map is a Go map: any key may be missing. Null is a
 * pointer to nothing.
 */
export type TemplateValue =
  string | number | boolean | null | TemplateValue[] | ReadonlyMap<string, TemplateValue> | TemplateStruct;

export interface TemplateStruct {
  [field: string]: TemplateValue;
}

/** A missing key of a map; it counts as nothing, and is printed as Go does. */
export const NO_VALUE = undefined;
export type Evaluated = TemplateValue | typeof NO_VALUE;

export function isMap(value: Evaluated): value is ReadonlyMap<string, TemplateValue> {
  return value instanceof Map;
}

export function isStruct(value: Evaluated): value is TemplateStruct {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isMap(value);
}

/** Whether a value counts as true: it is not zero, empty or nothing. */
export function isTrue(value: Evaluated): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isMap(value)) return value.size > 0;
  return isStruct(value) || Boolean(value);
}

/** A value as it is written into the text. */
export function printed(value: Evaluated): string {
  if (value === undefined) return "<no value>";
  if (value === null) return "<nil>";
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return `[${value.map(printed).join(" ")}]`;
  if (isMap(value)) {
    const keys = [...value.keys()].sort();
    return `map[${keys.map((key) => `${key}:${printed(value.get(key))}`).join(" ")}]`;
  }
  throw new TemplateError(
    `a whole object cannot be written out; name one of ${Object.keys(value).join(", ")}`,
  );
}

export function describe(value: Evaluated): string {
  if (value === undefined) return "no value";
  if (value === null) return "nil";
  if (Array.isArray(value)) return "a list";
  if (isMap(value)) return "a map";
  return isStruct(value) ? "an object" : `the ${typeof value} ${JSON.stringify(value)}`;
}
