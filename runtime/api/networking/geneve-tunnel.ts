import { z } from "zod";

import { defineKind, type KindObject } from "../define-kind";
import { int32, objectReference } from "../schema/fields";

/** Source: networking.md 4.3. */
export const GeneveTunnel = defineKind({
  group: "networking.liqo.io",
  version: "v1beta1",
  kind: "GeneveTunnel",
  plural: "genevetunnels",
  shortNames: ["gvtn"],
  namespaced: true,
  summary: "The overlay between one node and one gateway; named `<fabric>-<node>`.",
  spec: () =>
    z.object({
      id: int32().describe("Virtual network identifier, unique in the cluster."),
      internalNodeRef: objectReference().describe("By name."),
      internalFabricRef: objectReference().describe("By name and namespace."),
    }),
});
export type GeneveTunnel = KindObject<typeof GeneveTunnel>;
