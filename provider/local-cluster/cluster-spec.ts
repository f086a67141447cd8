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

/** What a local cluster is to be: the fields alone. */
export const clusterSpecFields = z.strictObject({
  name: z
    .string()
    .regex(
      /^[a-z]([a-z0-9-]{0,18}[a-z0-9])?$/,
      "must be 1 to 20 lower-case letters, digits or hyphens, and begin with a letter",
    )
    .describe("Names the cluster, the context of its kubeconfig and its nodes (`<name>-1`, …)."),
  nodes: z
    .int()
    .min(1)
    .max(5)
    .default(1)
    .describe("Number of nodes, 1 to 5; the first runs the control plane too. 1 by default."),
  podCidr: range.default("10.200.0.0/16").describe("Range of the pods' addresses. 10.200.0.0/16 by default."),
  serviceCidr: range
    .default("10.96.0.0/16")
    .describe("Range of the services' addresses. 10.96.0.0/16 by default."),
  kubernetesVersion: z
    .string()
    .regex(/^\d+\.\d+\.\d+$/, "must be a version such as 1.34.4")
    .default(kubernetesVersion)
    .describe(`Kubernetes version. ${kubernetesVersion} by default, the only one of the native backend.`),
  backend: z
    .enum(["auto", "kind", "native"])
    .default("auto")
    .describe(
      "`kind` runs on Docker; `native` needs root on Linux and no container engine; `auto`, the default, is `kind` where kind and Docker are usable.",
    ),
  images: z
    .array(z.string().min(1))
    .default([])
    .describe("Image archives (OCI or Docker) to load into every node, as paths."),
  auditLog: z
    .boolean()
    .default(false)
    .describe("Whether the API server writes one line a request to a file. Native backend only."),
});

export type ClusterSpec = z.output<typeof clusterSpecFields>;
export type ClusterSpecInput = z.input<typeof clusterSpecFields>;

/** What is wrong with fields that are each valid by themselves. */
export function clusterSpecFaults(spec: ClusterSpec): { property: keyof ClusterSpec; reason: string }[] {
  const pods = parseRange(spec.podCidr);
  const services = parseRange(spec.serviceCidr);
  const faults: { property: keyof ClusterSpec; reason: string }[] = [];
  if (overlaps(pods, services)) {
    faults.push({
      property: "serviceCidr",
      reason: `${spec.serviceCidr} overlaps the pod range ${formatRange(pods)}; choose ranges apart from each other`,
    });
  }
  // Each node needs some sixty addresses at least.
  const longest = 26 - Math.ceil(Math.log2(spec.nodes));
  if (pods.prefix > longest) {
    faults.push({
      property: "podCidr",
      reason: `${spec.podCidr} is too small for ${spec.nodes} node${spec.nodes === 1 ? "" : "s"}; give it a prefix of /${longest} or shorter`,
    });
  }
  if (services.prefix > 26 || services.prefix < 12) {
    faults.push({
      property: "serviceCidr",
      reason: `${spec.serviceCidr} cannot be a cluster's range of services; give it a prefix from /12 to /26`,
    });
  }
  if (spec.auditLog && spec.backend === "kind") {
    faults.push({
      property: "auditLog",
      reason: "is for the native backend only; leave it out or set backend to native",
    });
  }
  return faults;
}

/** What a local cluster is to be, with the rules across its fields. */
export const clusterSpec = clusterSpecFields.superRefine((spec, context) => {
  // Asked even if a range by itself is wrong, which is reported at its field.
  if (!range.safeParse(spec.podCidr).success || !range.safeParse(spec.serviceCidr).success) return;
  for (const { property, reason } of clusterSpecFaults(spec)) {
    context.addIssue({ code: "custom", path: [property], message: reason });
  }
});
