import { z } from "zod";

import { AGE, defineKind, type KindObject } from "../define-kind";
import { ipv4, observedGeneration } from "../schema/fields";

/** Source: networking.md 4.3 and 11. */
export const InternalNode = defineKind({
  group: "networking.liqo.io",
  version: "v1beta1",
  kind: "InternalNode",
  plural: "internalnodes",
  shortNames: ["in", "inode"],
  namespaced: false,
  summary: "A node in the overlay between nodes and gateways; has the node's name.",
  spec: () =>
    z.object({
      interface: z.object({
        gateway: z.object({ name: z.string().describe("Interface for this node in every gateway pod.") }),
        node: z.object({ ip: ipv4().describe("The node's address in the overlay.") }),
      }),
    }),
  status: () =>
    z.object({
      observedGeneration: observedGeneration(),
      nodeIP: z
        .object({
          local: ipv4().optional().describe("Seen by gateway pods on this node."),
          remote: ipv4().optional().describe("Seen by gateway pods on other nodes."),
        })
        .describe("Source address of the node's packets to gateway pods."),
    }),
  columns: [
    { name: "Node IP Local", jsonPath: ".status.nodeIP.local" },
    { name: "Node IP Remote", jsonPath: ".status.nodeIP.remote" },
    AGE,
  ],
});
export type InternalNode = KindObject<typeof InternalNode>;
