import { z } from "zod";

import { AGE, defineKind, type KindObject } from "../define-kind";
import { cidr, int32, observedGeneration } from "../schema/fields";
import { immutable } from "../schema/rules";

/** Source: networking.md 4.1. */
export const Network = defineKind({
  group: "ipam.liqo.io",
  version: "v1alpha1",
  kind: "Network",
  plural: "networks",
  shortNames: ["net"],
  namespaced: true,
  summary:
    "A range of addresses that is in use; remapped to a free one when it is taken, unless it must not be.",
  spec: () =>
    z.object({
      cidr: immutable(cidr(), "cidr is immutable", "make a new Network").describe(
        "The range that is asked for.",
      ),
      preAllocated: immutable(int32().min(0), "preAllocated is immutable", "make a new Network")
        .optional()
        .describe("How many addresses are set aside, from the first one."),
    }),
  status: () =>
    z.object({
      observedGeneration: observedGeneration(),
      cidr: cidr().optional().describe("The range that was given."),
    }),
  columns: [
    { name: "Desired CIDR", jsonPath: ".spec.cidr" },
    { name: "Remapped CIDR", jsonPath: ".status.cidr" },
    AGE,
  ],
});
export type Network = KindObject<typeof Network>;
