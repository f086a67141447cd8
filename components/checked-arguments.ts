import * as pulumi from "@pulumi/pulumi";
import type { z } from "zod";

import { InvalidObjectError } from "../runtime/api/invalid-object";
import { parseArguments } from "../runtime/plan/arguments";

/** Arguments of a component that are wrong. The engine shows the message alone, without a trace of the library's own code. */
export class ArgumentError extends pulumi.RunError {
  constructor(message: string) {
    super(message);
    // The SDK puts the name of each property on the way before the message; here the message already says where the fault is.
    Object.defineProperty(this, "message", { get: () => message, set: () => undefined });
  }
}

/**
 * Validates arguments of a component; fills the defaults.
 *
 * @param subject whose arguments they are, such as `Installation "rome"`
 * @throws ArgumentError that names each property, its value and the way out
 */
export function checkedArguments<Schema extends z.ZodType>(
  schema: Schema,
  subject: string,
  value: unknown,
): z.output<Schema> {
  try {
    return parseArguments(schema, subject, value);
  } catch (error) {
    throw error instanceof InvalidObjectError ? new ArgumentError(error.message) : error;
  }
}
