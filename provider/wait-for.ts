import * as pulumi from "@pulumi/pulumi";
import { z } from "zod";

import type { KubeObject } from "../runtime/api";
import {
  type ClusterArgs,
  clusterInputs,
  inCluster,
  lookMs,
  nameInput,
  objectId,
  timeoutInput,
  withSecretKubeconfig,
} from "./core/cluster-access";
import type { InputFault, ProviderContext } from "./core/definition";
import { type Expectation, inWords, judge, staleStatus } from "./core/expectation";
import { isUnknown } from "./core/input-check";
import { compileJsonPath, type JsonPath, textOf } from "./core/json-path";
import { resourceFunctions } from "./core/lifecycle";
import { LiqoResource } from "./core/liqo-resource";
import { createdByWait, waitForObject, type WaitResult } from "./core/object-wait";
import { discoverKind } from "./core/observation";

const pathInput = z.string().superRefine((path, context) => {
  try {
    compileJsonPath(path);
  } catch (error) {
    context.addIssue({ code: "custom", message: error instanceof Error ? error.message : String(error) });
  }
});

const inputs = z.object({
  ...clusterInputs,
  apiVersion: z
    .string()
    .regex(/^([a-z0-9.-]+\/)?v[a-z0-9]+$/, "is not an API version; write for instance apps/v1")
    .describe("API version of the object, as in `apps/v1`."),
  kind: z.string().min(1).describe("Kind of the object, as in `Deployment`."),
  name: nameInput.describe("Name of the object."),
  namespace: nameInput.optional().describe("Namespace of the object; none for cluster-scoped kinds."),
  condition: z
    .strictObject({
      type: z.string().min(1).describe("Type of the condition."),
      status: z.string().min(1).default("True").describe("Status that it must have; `True` by default."),
      reason: z.string().optional().describe("Reason that it must have; any by default."),
    })
    .optional()
    .describe("Wait for an entry of `status.conditions` that speaks of the present generation."),
  field: z
    .strictObject({
      path: pathInput.describe("JSONPath of the field, as in `{.status.phase}`."),
      equals: z.string().optional().describe("Value that it must have; by default any but the empty one."),
    })
    .optional()
    .describe("Wait for a field; one of the status when that speaks of the present generation."),
  absent: z.literal(true).optional().describe("Wait until there is no such object."),
  failOn: z
    .strictObject({
      path: pathInput.describe("JSONPath of the field."),
      equals: z.string().describe("Value by which it says that waiting is in vain."),
      forSeconds: z
        .number()
        .int()
        .min(0)
        .default(0)
        .describe("How long it must have this value, in seconds; 0 by default."),
    })
    .optional()
    .describe("Give up before the deadline when a field has this value."),
  triggers: z
    .record(z.string(), z.string())
    .optional()
    .describe("Arbitrary values: when one changes, wait again."),
  timeoutSeconds: timeoutInput(300),
});
type Inputs = z.output<typeof inputs>;

/** Waits until something is true of an object of any kind in any cluster. */
export const waitFor = resourceFunctions({
  type: "WaitFor",
  summary:
    "Waits until an object of any kind, in any cluster, has a condition or a field, or is gone. A refresh looks again: when it is no longer so, the next run waits anew.",
  inputs,
  computed: z.object({
    value: z.string().describe("The value of the field waited for; empty for other waits."),
  }),
  secrets: [],
  secretInputs: ["kubeconfig"],
  secretWith: ({ kind }) => secretOfWaits(kind),
  replaceOn: ["apiVersion", "kind", "name", "namespace"],
  validate: oneExpectation,

  ...createdByWait(objectId, wait),
  read: (_id, state, context) => look(state, context),
});

function oneExpectation({ condition, field, absent }: Inputs): InputFault[] {
  const given = [condition, field, absent].filter((expectation) => expectation !== undefined).length;
  if (given === 1) return [];
  const reason =
    given === 0
      ? "nothing to wait for: give condition, field or absent"
      : "give only one of condition, field and absent; use one WaitFor for each";
  return [{ property: "condition", reason }];
}

function expectationOf({ condition, field }: Inputs): Expectation {
  if (condition !== undefined) return { kind: "condition", ...condition };
  if (field !== undefined) return { kind: "field", path: compileJsonPath(field.path), equals: field.equals };
  return { kind: "absence" };
}

/** In place of a Secret's values: texts are kept in the state and shown, readable for everybody. */
const HIDDEN = "the value given";

/** The expectation as texts may tell it. */
function told(inputs: Inputs): Expectation {
  const expectation = expectationOf(inputs);
  if (inputs.kind !== "Secret" || expectation.kind !== "field" || expectation.equals === undefined) {
    return expectation;
  }
  return { ...expectation, equals: HIDDEN };
}

function judgeBy(
  inputs: Inputs,
  now: () => number = Date.now,
): (object: KubeObject | undefined) => WaitResult<{ value: string }> {
  const expectation = expectationOf(inputs);
  const failOn = inputs.failOn && { ...inputs.failOn, path: compileJsonPath(inputs.failOn.path) };
  let failingSince: number | undefined;
  return (object) => {
    if (failOn !== undefined && hasValue(object, failOn)) {
      failingSince ??= now();
      const leftMs = failingSince + failOn.forSeconds * 1000 - now();
      const seen = `${failOn.path.text} is ${inputs.kind === "Secret" ? HIDDEN : failOn.equals}`;
      return leftMs > 0 ? { is: "open", seen, againMs: leftMs } : { is: "refused", seen };
    }
    failingSince = undefined;
    const verdict = judge(object, expectation);
    return verdict.is === "met" ? { is: "met", value: { value: verdict.value } } : verdict;
  };
}

/** Whether an object has a value in a field. What the status says of an older spec is nothing against the present one. */
function hasValue(
  object: KubeObject | undefined,
  { path, equals }: { path: JsonPath; equals: string },
): boolean {
  if (object === undefined || (path.isOfStatus && staleStatus(object) !== undefined)) return false;
  return path.select(object).map(textOf).includes(equals);
}

function wait(inputs: Inputs, context: ProviderContext): Promise<{ value: string }> {
  const { apiVersion, kind, name, namespace, timeoutSeconds } = inputs;
  return inCluster(inputs, context, (client) =>
    waitForObject(
      {
        client,
        kind: (limits) => discoverKind(client, apiVersion, kind, limits),
        kindName: kind,
        ref: { name, ...(namespace !== undefined && { namespace }) },
        timeoutSeconds,
        what: inWords(told(inputs)),
        nextStep: `look with "kubectl get ${kind.toLowerCase()} ${name}${namespace === undefined ? "" : ` -n ${namespace}`} -o yaml" what keeps it, or give more than ${timeoutSeconds} s in timeoutSeconds; the next "pulumi up" goes on waiting`,
        judge: judgeBy(inputs, () => context.now()),
      },
      context,
    ),
  );
}

/** One look, for a refresh. */
function look(inputs: Inputs, context: ProviderContext): Promise<{ value: string } | undefined> {
  return inCluster(inputs, context, async (client) => {
    const limits = { signal: context.signal, deadlineMs: lookMs };
    const kind = await discoverKind(client, inputs.apiVersion, inputs.kind, limits);
    const { name, namespace } = inputs;
    const object =
      kind && (await client.get(kind, { name, ...(namespace !== undefined && { namespace }) }, limits));
    const result = judgeBy(inputs)(object);
    return result.is === "met" ? result.value : undefined;
  });
}

/**
 * What of a wait tells values of the object: the value waited for, and those that it is compared with. It is secret when the object is a Secret,
 * and when its kind is not known yet.
 */
export function secretOfWaits(kind: unknown): readonly ("value" | "field" | "failOn")[] {
  const isAnother = typeof kind === "string" && !isUnknown(kind) && kind !== "Secret";
  return isAnother ? [] : ["value", "field", "failOn"];
}

/** What to wait for: exactly one of `condition`, `field` and `absent`. */
export interface WaitForArgs extends ClusterArgs {
  /** API version of the object, as in `apps/v1`. */
  apiVersion: pulumi.Input<string>;
  /** Kind of the object, as in `Deployment`. */
  kind: pulumi.Input<string>;
  /** Name of the object. */
  name: pulumi.Input<string>;
  /** Namespace of the object; none for cluster-scoped kinds. */
  namespace?: pulumi.Input<string>;
  /** Wait for an entry of `status.conditions` that speaks of the present generation. */
  condition?: pulumi.Input<{
    /** Type of the condition. */
    type: pulumi.Input<string>;
    /** Status that it must have; `True` by default. */
    status?: pulumi.Input<string>;
    /** Reason that it must have; any by default. */
    reason?: pulumi.Input<string>;
  }>;
  /** Wait for a field; its value is the output `value`. */
  field?: pulumi.Input<{
    /** JSONPath of the field, as in `{.status.phase}`. */
    path: pulumi.Input<string>;
    /** Value that it must have; by default any but the empty one. */
    equals?: pulumi.Input<string>;
  }>;
  /** Wait until there is no such object. */
  absent?: pulumi.Input<true>;
  /** Give up before the deadline when a field has this value. */
  failOn?: pulumi.Input<{
    /** JSONPath of the field. */
    path: pulumi.Input<string>;
    /** Value by which it says that waiting is in vain. */
    equals: pulumi.Input<string>;
    /** How long it must have this value, in seconds; 0 by default. */
    forSeconds?: pulumi.Input<number>;
  }>;
  /** Arbitrary values: when one changes, wait again. */
  triggers?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** Longest time to wait, in seconds; 300 by default. */
  timeoutSeconds?: pulumi.Input<number>;
}

/**
 * Waits until an object of any kind, in any cluster, has a condition or a field, or is gone. A refresh looks again: when it is no longer so,
 * the next run waits anew.
 */
export class WaitFor extends LiqoResource {
  /** The value of the field waited for; empty for other waits. Secret when the object is a Secret. */
  declare readonly value: pulumi.Output<string>;

  constructor(name: string, args: WaitForArgs, options?: pulumi.CustomResourceOptions) {
    const secret = secretOfWaits(args.kind);
    const { field, failOn } = args;
    const compared = {
      ...(secret.includes("field") && field !== undefined && { field: pulumi.secret(field) }),
      ...(secret.includes("failOn") && failOn !== undefined && { failOn: pulumi.secret(failOn) }),
    };
    super("waitFor", name, { value: undefined, ...withSecretKubeconfig(args), ...compared }, options, secret);
  }
}
