import { z } from "zod";

import { EMBEDDED } from "./embedded";
import type { ValidationRule } from "./structural";

const VALIDATIONS = "x-kubernetes-validations";

/**
 * The value may not change once it is set. Only the API server knows the old value, so only it can check this. Of strings the message has both
 * values; numbers can't be put into one, because an API server takes their text for endlessly long and refuses the definition for its cost.
 *
 * @param fault what is wrong, as in `cidr is immutable`; the values follow it
 * @param wayOut what to do instead
 */
export function immutable<S extends z.ZodType>(schema: S, fault: string, wayOut: string): S {
  const values = `${quoted(`${fault}: it is "`)} + oldSelf + '", and the request has "' + self + ${quoted(`"; ${wayOut}`)}`;
  return withRule(schema, {
    rule: "self == oldSelf",
    message: `${fault}; ${wayOut}`,
    ...(schema instanceof z.ZodNumber ? {} : { messageExpression: values }),
  });
}

/**
 * A condition on a whole value: evaluated as CEL by the API server, and by `holds` in `parse`. The message says what is wrong and what to
 * do; it follows the value in the error text of `parse`. An API server shows no value of an object: `messageExpression` does.
 */
export function validated<S extends z.ZodType>(
  schema: S,
  rule: ValidationRule & { holds: (value: z.output<S>) => boolean },
): S {
  const { holds, ...cel } = rule;
  return withRule(schema.refine(holds, { error: cel.message }), cel);
}

/** A text as a literal of CEL. */
function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

function withRule<S extends z.ZodType>(schema: S, rule: ValidationRule): S {
  const meta = schema.meta() ?? {};
  if (EMBEDDED in meta)
    throw new Error("a rule on an embedded Kubernetes type is not supported; put it on the parent");
  const before = (meta[VALIDATIONS] as ValidationRule[] | undefined) ?? [];
  return schema.meta({ ...meta, [VALIDATIONS]: [...before, rule] });
}
