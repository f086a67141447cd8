import type { z } from "zod";

import { EMBEDDED } from "./embedded";
import type { ValidationRule } from "./structural";

const VALIDATIONS = "x-kubernetes-validations";

/** The value may not change once it is set. Only the API server knows the old value, so only it can check this. */
export function immutable<S extends z.ZodType>(schema: S, message: string): S {
  return withRule(schema, { rule: "self == oldSelf", message });
}

/**
 * A condition on a whole value: evaluated as CEL by the API server, and by `holds` in `parse`. The message says what is wrong and what to
 * do; it follows the value in the error text.
 */
export function validated<S extends z.ZodType>(
  schema: S,
  rule: ValidationRule & { holds: (value: z.output<S>) => boolean },
): S {
  const { holds, ...cel } = rule;
  return withRule(schema.refine(holds, { error: cel.message }), cel);
}

function withRule<S extends z.ZodType>(schema: S, rule: ValidationRule): S {
  const meta = schema.meta() ?? {};
  if (EMBEDDED in meta)
    throw new Error("a rule on an embedded Kubernetes type is not supported; put it on the parent");
  const before = (meta[VALIDATIONS] as ValidationRule[] | undefined) ?? [];
  return schema.meta({ ...meta, [VALIDATIONS]: [...before, rule] });
}
