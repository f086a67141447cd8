import { z } from "zod";

import { AGE, defineKind, type KindObject } from "../define-kind";
import { isRecord } from "../invalid-object";
import { Label } from "../keys/labels";
import { cidrOrBlank, cidrs, listOf, observedGeneration, standardCondition } from "../schema/fields";

const clusterCIDRs = () =>
  z.object({
    cidr: z
      .object({
        pod: cidrs().optional().describe("Networks of the pods."),
        external: cidrs().optional().describe("Networks of what is no pod; the first one counts."),
      })
      .optional(),
  });

/** Liqo 1.0 had one network in the place of each list, and manifests of that time are still about. */
function normalize(object: Record<string, unknown>): void {
  if (!isRecord(object.spec)) return;
  for (const side of [object.spec.local, object.spec.remote]) {
    if (!isRecord(side) || !isRecord(side.cidr)) continue;
    for (const [name, value] of Object.entries(side.cidr)) side.cidr[name] = listOf(value);
  }
}

/** Source: networking.md 4.2 and 7. */
export const Configuration = defineKind({
  group: "networking.liqo.io",
  version: "v1beta1",
  kind: "Configuration",
  plural: "configurations",
  shortNames: ["conf"],
  namespaced: true,
  summary: "The networks of a peer as the peer knows them, and in the status as this cluster reaches them.",
  normalize,
  spec: () =>
    z.object({
      local: clusterCIDRs()
        .optional()
        .describe("This cluster's networks; filled by the controller when absent."),
      remote: clusterCIDRs().optional().describe("The peer's networks."),
    }),
  status: () =>
    z.object({
      observedGeneration: observedGeneration(),
      conditions: z
        .array(standardCondition())
        .optional()
        .describe("NetworkCIDRsConfigured: every network of the peer has its place here."),
      remote: z
        .object({
          cidr: z
            .object({
              pod: z.array(cidrOrBlank()).optional(),
              external: z.array(cidrOrBlank()).optional(),
            })
            .optional(),
        })
        .optional()
        .describe("The peer's networks as this cluster reaches them, in the order of the spec."),
    }),
  columns: [
    // The trailing space is upstream's; scripts cut the output by column name.
    { name: "Desired Pod CIDR ", jsonPath: ".spec.remote.cidr.pod" },
    { name: "Remapped Pod CIDR", jsonPath: ".status.remote.cidr.pod" },
    AGE,
    { name: "Desired External CIDR", jsonPath: ".spec.remote.cidr.external", priority: 1 },
    { name: "Remapped External CIDR", jsonPath: ".status.remote.cidr.external", priority: 1 },
    {
      name: "ClusterID",
      jsonPath: `.metadata.labels.${Label.remoteClusterID.replaceAll(".", "\\.")}`,
      priority: 1,
    },
  ],
});
export type Configuration = KindObject<typeof Configuration>;
