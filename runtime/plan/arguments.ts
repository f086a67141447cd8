import { z } from "zod";

import { InvalidObjectError, sentencesOf } from "../api/invalid-object";
import { quantityFault } from "../api/quantity";

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

/** Longest cluster ID whose tenant namespace, `liqo-tenant-<ID>`, is still a name (control plane reference 3.1). */
const CLUSTER_ID_MAX_LENGTH = 51;

/** A cluster ID: a DNS label short enough for the names made of it. */
export const clusterIdSchema = z
  .string()
  .max(
    CLUSTER_ID_MAX_LENGTH,
    `is longer than ${CLUSTER_ID_MAX_LENGTH} characters; liqo-tenant-<cluster ID> must fit a namespace name, so choose a shorter one`,
  )
  .regex(
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
    "is not a cluster ID; use lower-case letters, digits and inner hyphens, such as eu-west-1",
  );

/** A namespace name: a DNS label. */
export const namespaceNameSchema = z
  .string()
  .max(63, "is longer than the 63 characters that a namespace name may have; choose a shorter one")
  .regex(
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
    "is not a namespace name; use lower-case letters, digits and inner hyphens",
  );

/** Name of an object whose kind takes DNS subdomains: slices and virtual nodes, whose name becomes a node's. */
export const objectNameSchema = z
  .string()
  .max(253, "is longer than the 253 characters that a name may have; choose a shorter one")
  .regex(
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
    "is not an object name; use lower-case letters, digits, inner hyphens and dots",
  );

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const DOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/i;

/** Annotations, whose keys an API server would take: a name, which may have a DNS domain and a slash before it. */
export const annotationsSchema = z.record(z.string(), z.string()).superRefine((annotations, context) => {
  for (const key of Object.keys(annotations)) {
    if (isAnnotationKey(key)) continue;
    context.addIssue({
      code: "custom",
      message: `have the key ${JSON.stringify(key)}, which is no annotation key; use up to 63 letters, digits and inner - _ . , with a domain and a slash before them where there is one, such as example.com/internal`,
    });
  }
});

function isAnnotationKey(key: string): boolean {
  const [name = "", domain, ...more] = key.split("/").reverse();
  if (more.length > 0 || name.length > 63 || !NAME.test(name)) return false;
  return domain === undefined || (domain.length <= 253 && DOMAIN.test(domain));
}

/** Amounts by resource name, as strings. */
export const resourceListSchema = z.record(
  z.string().min(1),
  z
    .union([z.string(), z.number()])
    .superRefine((amount, context) => {
      const message = quantityFault(amount);
      if (message !== undefined) context.addIssue({ code: "custom", message });
    })
    .transform(String),
);
