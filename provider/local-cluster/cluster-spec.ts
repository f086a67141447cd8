import { z } from "zod";

import { formatRange, overlaps, parseRange } from "./ipv4-range";
import { kubernetesVersion } from "./toolchain/tool-catalogue";

const range = z.string().superRefine((value, context) => {
  try {
    parseRange(value);
  } catch (error) {
    context.addIssue({ code: "custom", message: error instanceof Error ? error.message : String(error) });
  }
});

/** What a local cluster is to be. */
export const clusterSpec = z
  .strictObject({
    /** Names the cluster, its context and its nodes (`<name>-1`, …). */
    name: z
      .string()
      .regex(
        /^[a-z]([a-z0-9-]{0,18}[a-z0-9])?$/,
        "must be 1 to 20 lower-case letters, digits or hyphens, and begin with a letter",
      ),
    /** Number of nodes; the first runs the control plane too. */
    nodes: z.int().min(1).max(5).default(1),
    podCidr: range.default("10.200.0.0/16"),
    serviceCidr: range.default("10.96.0.0/16"),
    kubernetesVersion: z
      .string()
      .regex(/^\d+\.\d+\.\d+$/, "must be a version such as 1.34.4")
      .default(kubernetesVersion),
    /** `kind` runs on Docker; `native` needs root on Linux and no container engine; `auto` is `kind` where Docker answers. */
    backend: z.enum(["auto", "kind", "native"]).default("auto"),
    /** Image archives (OCI or Docker) to load into every node, as paths. */
    images: z.array(z.string().min(1)).default([]),
    /** Whether the API server writes one line a request to a file. */
    auditLog: z.boolean().default(false),
  })
  .superRefine((spec, context) => {
    let pods, services;
    try {
      [pods, services] = [parseRange(spec.podCidr), parseRange(spec.serviceCidr)];
    } catch {
      return; // reported at the field
    }
    if (overlaps(pods, services)) {
      context.addIssue({
        code: "custom",
        path: ["serviceCidr"],
        message: `${spec.serviceCidr} overlaps the pod range ${formatRange(pods)}; choose ranges apart from each other`,
      });
    }
    if (pods.prefix > 25) {
      context.addIssue({
        code: "custom",
        path: ["podCidr"],
        message: `${spec.podCidr} is too small; give it a prefix of /25 or shorter`,
      });
    }
    if (services.prefix > 26 || services.prefix < 12) {
      context.addIssue({
        code: "custom",
        path: ["serviceCidr"],
        message: `${spec.serviceCidr} cannot hold a cluster's services; give it a prefix from /12 to /26`,
      });
    }
  });

export type ClusterSpec = z.output<typeof clusterSpec>;
export type ClusterSpecInput = z.input<typeof clusterSpec>;
