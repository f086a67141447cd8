import { z } from "zod";

/** Fields of an answer, each in the range that a provider may say. The ranges are those of Kubernetes where it has one; the counts are generous. */

/** A namespace, at either end. */
export const namespaceName = () =>
  z
    .string()
    .max(63)
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, "is no name of a namespace");

/** A StorageClass or IngressClass. */
export const className = () =>
  z
    .string()
    .max(253)
    .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, "is no name of a class");

/** A load balancer class: a name with a domain before it, or without. */
export const loadBalancerClassName = () =>
  z
    .string()
    .max(317)
    .regex(/^[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?$/, "is no name of a load balancer class");

const labelKey = () =>
  z
    .string()
    .max(317)
    .regex(
      /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/,
      "is no key of a label",
    );

const labelValue = () =>
  z
    .string()
    .max(63)
    .regex(/^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/, "is no value of a label");

export const labels = (most: number) => atMost(most, z.record(labelKey(), labelValue()));

/** Texts of a condition, as long as Kubernetes' own conditions may have them. */
export const conditionTexts = () => ({
  lastTransitionTime: z
    .string()
    .max(64)
    .regex(
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
      "is no time as in 2026-05-04T12:00:00Z",
    )
    .optional(),
  reason: z.string().max(1_024).optional(),
  message: z.string().max(32_768).optional(),
});

/** A list or a map with a limited number of entries, which are counted before any is looked at. */
export function atMost<Schema extends z.ZodType>(most: number, schema: Schema) {
  return z
    .unknown()
    .check(z.refine((value) => sizeOf(value) <= most, `has more than ${most} entries`))
    .pipe(schema);
}

function sizeOf(value: unknown): number {
  return typeof value === "object" && value !== null ? Object.keys(value).length : 0;
}
