import { isIP, isIPv4 } from "node:net";

import type * as core from "kubernetes-types/core/v1";
import { z } from "zod";

import { embedded } from "./embedded";
import { EMBEDDED, ONE_OR_MANY, type ValidationRule } from "./structural-schema";

/**
 * The field types that several kinds share, each with the format that the API server checks and the text for people; and the rules that a schema
 * can add to a field: `immutable` and `validated`.
 */

/** Identifies a cluster among its peers. Source: control-plane.md 2.1. */
export const clusterID = () =>
  z.string().regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, {
    error: "does not match ^[a-z0-9]([-a-z0-9]*[a-z0-9])?$; use lower-case letters, digits and dashes",
  });

/** Binary data, as base64 in JSON and YAML. */
export const bytes = () =>
  z
    .string()
    .refine((text) => /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text), {
      error: "is not base64; encode the bytes with padding and without line breaks",
      abort: true,
    })
    .meta({ format: "byte" });

/** A network, such as `10.70.0.0/16`. */
export const cidr = () =>
  z
    .string()
    .refine(isCIDR, { error: "is not a CIDR; write an address and a prefix length, as in 10.70.0.0/16" })
    .meta({ format: "cidr" });

/** An address, such as `10.70.0.1`. */
export const ipv4 = () =>
  z
    .string()
    .refine(isIPv4, { error: "is not an IPv4 address; write four numbers, as in 10.70.0.1" })
    .meta({ format: "ipv4" });

/** A list of networks, in whose place there may be a single one; becomes a list. */
export const cidrs = () => z.preprocess(listOf, z.array(cidr())).meta({ [ONE_OR_MANY]: true });

/** A single string as a list. */
export function listOf(value: unknown): unknown {
  return typeof value === "string" ? [value] : value;
}

/** A network, or nothing yet in a list whose places count. */
export const cidrOrBlank = () =>
  z
    .string()
    .refine((text) => text === "" || isCIDR(text), {
      error: "is neither empty nor a CIDR such as 10.70.0.0/16",
    })
    .meta({ anyOf: [{ format: "cidr" }, { maxLength: 0 }] });

function isCIDR(text: string): boolean {
  const [address = "", length = "", ...rest] = text.split("/");
  const version = isIP(address);
  return (
    rest.length === 0 &&
    version !== 0 &&
    /^\d{1,3}$/.test(length) &&
    Number(length) <= (version === 4 ? 32 : 128)
  );
}

/** RFC 3339. */
export const time = () =>
  z
    .string()
    .refine((text) => !Number.isNaN(Date.parse(text)), {
      error: "is not a time; write it as in 2026-05-04T12:00:00Z",
    })
    .meta({ format: "date-time" });

export const int32 = () => z.int().min(-2147483648).max(2147483647).meta({ format: "int32" });
export const int64 = () => z.int().meta({ format: "int64" });
export const stringMap = () => z.record(z.string(), z.string());

/** An amount of a resource: a whole number, or a string such as `500m` or `2Gi`. */
export type Quantity = string | number;
export const quantity = () => embedded<Quantity>("api.Quantity");

/** Amounts by resource name. */
export const resourceList = () => z.record(z.string(), quantity());

/** An object whose fields another API defines. */
export const anyObject = () =>
  z.record(z.string(), z.unknown()).meta({ "x-kubernetes-preserve-unknown-fields": true });

/** A reference within the same namespace. */
export const localObjectReference = () =>
  z.object({ name: z.string().default("") }).meta({ "x-kubernetes-map-type": "atomic" });

/** A reference to any object. */
export const objectReference = () => embedded<core.ObjectReference>("core.ObjectReference");

/** The part of an object's metadata that a template gives. */
export const templateMetadata = () =>
  z.object({
    name: z.string().optional(),
    namespace: z.string().optional(),
    labels: stringMap().optional(),
    annotations: stringMap().optional(),
    finalizers: z.array(z.string()).optional(),
  });

/** Of a status: which version of the spec it is about. Readers of the upstream API pass over it where upstream has none. */
export const observedGeneration = () =>
  int64()
    .optional()
    .describe(
      "metadata.generation of the spec that was last carried out; while it is lower, the controllers have not answered the present one.",
    );

/** When, why and in what words a condition last changed. */
export const transition = () => ({
  lastTransitionTime: time().optional(),
  reason: z.string().optional(),
  message: z.string().optional(),
});

/** The condition type that Kubernetes' API conventions describe. */
export const standardCondition = () =>
  z.object({
    type: z
      .string()
      .max(316)
      .regex(
        /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$/,
      ),
    status: z.enum(["True", "False", "Unknown"]),
    observedGeneration: int64().min(0).optional(),
    lastTransitionTime: time(),
    reason: z
      .string()
      .min(1)
      .max(1024)
      .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/),
    message: z.string().max(32768),
  });

/** Storage classes that a provider offers and a virtual node maps to. Source: control-plane.md 2.1. */
export const storageClasses = () =>
  z.array(z.object({ storageClassName: z.string(), default: z.boolean().optional() }));

/** The same of ingress classes. */
export const ingressClasses = () =>
  z.array(z.object({ ingressClassName: z.string(), default: z.boolean().optional() }));

/** The same of load balancer classes. */
export const loadBalancerClasses = () =>
  z.array(z.object({ loadBalancerClassName: z.string(), default: z.boolean().optional() }));

const VALIDATIONS = "x-kubernetes-validations";

/**
 * The value may not change once it is set. Only the API server knows the old value, so only it can check this. Of strings the message has both
 * values; numbers can't be put into one, because an API server assumes that their text is of any length, and refuses the definition for its cost.
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
