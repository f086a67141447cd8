import type { z } from "zod";

import { InvalidObjectError, sentencesOf } from "../api/invalid-object";

/**
 * Validates the arguments of a component or command; fills the defaults.
 *
 * @param subject whose arguments they are, such as `Installation "rome"`
 * @throws InvalidObjectError that names each property, its value and the way out
 */
export function parseArguments<Schema extends z.ZodType>(
  schema: Schema,
  subject: string,
  value: unknown,
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new InvalidObjectError(subject, sentencesOf(result.error, value), { cause: result.error });
}
