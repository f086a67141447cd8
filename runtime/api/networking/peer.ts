import { z } from "zod";

import { AGE, defineKind, type KindObject } from "../define-kind";
import { isRecord } from "../invalid-object";
import { Label } from "../keys/labels";
import {
  cidrOrBlank,
  cidrs,
  listOf,
  objectReference,
  observedGeneration,
  standardCondition,
  time,
} from "../schema/fields";

/** What a cluster knows of a peer: its networks, the key of its gateway, and whether the tunnel to it carries packets. */

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

/** Source: networking.md 4.2. */
export const PublicKey = defineKind({
  group: "networking.liqo.io",
  version: "v1beta1",
  kind: "PublicKey",
  plural: "publickeies", // sic: part of the API
  shortNames: ["pk", "pkies", "pkey"],
  namespaced: true,
  summary: "The WireGuard public key of a peer's gateway.",
  spec: () =>
    z.object({
      // A pattern, since an API server's CEL takes other base64 than its fields.
      publicKey: z
        .string()
        .regex(
          /^[A-Za-z0-9+/]{43}=$/,
          "is no WireGuard key, which has 32 bytes; write what `wg pubkey` prints",
        )
        .meta({ format: "byte" })
        .optional()
        .describe("32 bytes; their base64 is the key as WireGuard prints it."),
    }),
});
export type PublicKey = KindObject<typeof PublicKey>;

/** Source: networking.md 4.2 and 10.4. */
export const Connection = defineKind({
  group: "networking.liqo.io",
  version: "v1beta1",
  kind: "Connection",
  plural: "connections",
  shortNames: ["conn"],
  namespaced: true,
  summary: "Whether the tunnel to a peer carries packets; made and kept by the gateway.",
  spec: () =>
    z.object({
      type: z.enum(["Server", "Client"]).describe("Which end of the tunnel this cluster is."),
      gatewayRef: objectReference(),
    }),
  status: () =>
    z.object({
      observedGeneration: observedGeneration(),
      value: z.string().optional().describe("Connected, Connecting or Error."),
      latency: z
        .object({
          value: z.string().optional().describe("With its unit, as in `12ms`."),
          timestamp: time().optional(),
        })
        .optional(),
    }),
  columns: [
    { name: "Type", jsonPath: ".spec.type" },
    { name: "Status", jsonPath: ".status.value" },
    AGE,
    { name: "Latency", jsonPath: ".status.latency.value", priority: 1 },
  ],
});
export type Connection = KindObject<typeof Connection>;
