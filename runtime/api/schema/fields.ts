import { isIP, isIPv4 } from "node:net";

import type * as core from "kubernetes-types/core/v1";
import { z } from "zod";

import { embedded } from "./embedded";

/** The field types that several kinds share, each with the format that the API server checks and the text for people. */

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

/** In a list's metadata: the API server takes a single item in the place of the list, too. */
export const ONE_OR_MANY = "x-one-or-many";

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
