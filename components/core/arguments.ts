import * as pulumi from "@pulumi/pulumi";
import { z } from "zod";

import { InvalidObjectError, isRecord } from "../../runtime/api/invalid-object";
import { parseArguments } from "../../runtime/plan/arguments";
import type { PeeringClusterArgs } from "./cluster";

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

/*
 * How a component's arguments look before any of them is looked into: which there are, and the plain ones. The schemas of runtime/plan check the values
 * that may be known only later. Arguments of programs that no compiler has seen come through here too.
 */

/** Arguments by what may be given for them. */
export const argument = {
  /** One that may be known later, and must be given. */
  required: z
    .unknown()
    .refine((value) => value !== undefined && value !== null, { error: "is required; give a value" }),
  /** One that may be known later. */
  later: z.unknown().optional(),
  flag: z.boolean().optional(),
  text: z.string().optional(),
  seconds: z.number().positive("is not above 0; give a number of seconds").optional(),
};

/** Exactly the arguments of the type: the compiler names one that is missing here. */
export function shape<Args>(fields: { [Key in keyof Required<Args>]: z.ZodType }) {
  return z.strictObject(fields);
}

/** A schema that checks each of these arguments: after `satisfies`, the compiler names one that the schema forgets. */
export interface Checks<Args> {
  shape: { [Key in keyof Required<Args>]: z.ZodType };
}

/** A cluster; told apart from a bare kubeconfig, which no error text may quote. */
export function clusterShape<Args>(fields: { [Key in keyof Required<Args>]: z.ZodType }) {
  return z
    .unknown()
    .superRefine((value, context) => {
      const isOutput = pulumi.Output.isInstance(value);
      if (isRecord(value) && !isOutput) return;
      const message = isOutput
        ? "is not known, because the whole cluster is an output; give an object whose fields are outputs"
        : "is required; give the cluster as an object, such as { kubeconfig, clusterId }";
      context.addIssue({ code: "custom", path: ["kubeconfig"], message });
    })
    .pipe(z.strictObject(fields));
}

/** How a cluster is reached. */
export const clusterAccess = { kubeconfig: argument.required, provider: argument.later };

/** A cluster with the runtime. It has the same arguments everywhere, so that a program may pass on one object. */
export const installedClusterShape = clusterShape<PeeringClusterArgs>({
  ...clusterAccess,
  clusterId: argument.required,
  liqoNamespace: argument.later,
  tenantNamespace: argument.later,
  adoptExisting: argument.flag,
});

/** Refuses an argument that another one makes useless. The path is not the argument's, whose value may be known only later. */
export function useless(context: z.RefinementCtx, key: string, wayOut: string): void {
  context.addIssue({ code: "custom", message: `${key} would do nothing: ${wayOut}, or leave it out` });
}
