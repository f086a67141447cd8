import { z } from "zod";

/** Longest cluster ID whose tenant namespace, `liqo-tenant-<ID>`, is still a name (control plane reference 3.1). */
export const CLUSTER_ID_MAX_LENGTH = 51;

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
