import { z } from "zod";

import { AGE, defineKind, type KindObject } from "../define-kind";
import { cidr, ipv4 } from "../schema/fields";

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
