import { z } from "zod";

import { AGE, defineKind, type KindObject } from "../define-kind";
import { objectReference, observedGeneration, time } from "../schema/fields";

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
