import { isRecord } from "../invalid-object";
import type { StructuralSchema } from "./structural";

/**
 * The fields of a value that its schema does not know, each as a sentence with the nearest known name. The API server would drop them or refuse
 * the object; who wrote them should hear of it before.
 */
export function unknownFields(value: unknown, schema: StructuralSchema, path = ""): string[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? value.flatMap((item, index) => unknownFields(item, items, `${path}[${index}]`)) : [];
  }
  if (!isRecord(value) || schema["x-kubernetes-preserve-unknown-fields"] === true) return [];

  return Object.entries(value).flatMap(([name, field]) => {
    const inner = path === "" ? name : `${path}.${name}`;
    const known = schema.properties?.[name] ?? schema.additionalProperties;
    if (known) return unknownFields(field, known, inner);
    if (schema.type !== "object") return []; // a wrong type, which is another fault
    return [`${inner}: is no field${suggestion(name, Object.keys(schema.properties ?? {}))}`];
  });
}

function suggestion(name: string, known: readonly string[]): string {
  const [nearest] = known
    .map((candidate) => ({ candidate, steps: distance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, steps }) => steps <= Math.max(2, candidate.length / 3))
    .sort((a, b) => a.steps - b.steps);
  if (nearest) return `; did you mean ${nearest.candidate}?`;
  return known.length === 0 ? "; remove it" : `; the fields here are ${known.join(", ")}`;
}

/** Levenshtein distance. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, replaced));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
