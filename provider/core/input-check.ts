import { z } from "zod";

import { sentencesOf } from "../../runtime/api/invalid-object";
import type { InputFault } from "./definition";

export interface CheckedInputs {
  inputs: Record<string, unknown>;
  failures: InputFault[];
}

export interface InputRules {
  schema: z.ZodObject;
  /** Properties whose values must not appear in a text. */
  secret: readonly string[];
  /** Rules across properties, asked when every property is known and valid by itself. */
  across?(inputs: Record<string, unknown>): InputFault[];
}

/**
 * Validates inputs as they come from the engine and fills the defaults. What is not known yet, or holds something that is not, passes
 * as it is: it is checked in the run in which it is known.
 */
export function checkInputs(rules: InputRules, news: Readonly<Record<string, unknown>>): CheckedInputs {
  const shape: Readonly<Record<string, z.core.$ZodType>> = rules.schema.shape;
  const inputs: Record<string, unknown> = {};
  const failures: InputFault[] = [];
  let complete = true;
  for (const [property, field] of Object.entries(shape)) {
    const value = news[property];
    if (hasUnknown(value)) {
      inputs[property] = value;
      complete = false;
      continue;
    }
    const result = z.object({ [property]: field }).safeParse({ [property]: value });
    if (result.success) Object.assign(inputs, withoutUndefined(result.data));
    else failures.push(...faultsOf(property, value, result.error, rules.secret.includes(property)));
  }
  for (const property of Object.keys(news)) {
    if (property in shape || property.startsWith("__")) continue;
    failures.push({
      property,
      reason: `is no input of this resource; its inputs are ${Object.keys(shape).join(", ")}`,
    });
  }
  if (complete && failures.length === 0) failures.push(...(rules.across?.(inputs) ?? []));
  return { inputs: failures.length === 0 ? inputs : { ...news }, failures };
}

function faultsOf(property: string, value: unknown, error: z.ZodError, secret: boolean): InputFault[] {
  if (secret) return error.issues.map((issue) => ({ property, reason: issue.message }));
  return sentencesOf(error, { [property]: value }).map((sentence) => {
    const colon = sentence.indexOf(": ");
    return { property: sentence.slice(0, colon), reason: sentence.slice(colon + 2) };
  });
}

function withoutUndefined(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}

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
