import { z } from "zod";

import { AGE, defineKind, type KindObject } from "../define-kind";
import { cidr, int32, ipv4, objectReference, observedGeneration } from "../schema/fields";

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

/** Source: networking.md 4.3 and 11. */
export const InternalFabric = defineKind({
  group: "networking.liqo.io",
  version: "v1beta1",
  kind: "InternalFabric",
  plural: "internalfabrics",
  shortNames: ["if", "ifabric"],
  namespaced: true,
  summary: "A gateway in the overlay between nodes and gateways, and the networks behind it.",
  spec: () =>
    z.object({
      mtu: z.int().optional().describe("Bytes."),
      remoteCIDRs: z.array(cidr()).optional().describe("The peer's networks as this cluster reaches them."),
      interface: z.object({
        node: z.object({ name: z.string().describe("Interface for this gateway on every node.") }),
        gateway: z.object({ ip: ipv4().describe("The gateway's address in the overlay.") }),
      }),
      gatewayIP: ipv4().describe("Address of the active gateway pod."),
    }),
  columns: [{ name: "Gateway IP", jsonPath: ".spec.gatewayIP" }, AGE],
});
export type InternalFabric = KindObject<typeof InternalFabric>;

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
