import { z } from "zod";

import { sentencesOf } from "../runtime/api/invalid-object";
import type { InputFault } from "./resource-definition";
import { hasUnknown } from "./unknown";

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
