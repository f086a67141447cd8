import { z } from "zod";

import { AGE, defineKind, type KindObject } from "../define-kind";
import { int32, objectReference } from "../schema/fields";
import { appliedConditions } from "./applied-condition";

const match = () =>
  z.object({
    op: z.enum(["eq", "neq"]),
    ip: z
      .object({
        value: z.string().describe("An address, a CIDR, or a range `a-b`."),
        position: z.enum(["src", "dst"]),
      })
      .optional(),
    port: z
      .object({
        value: z.string().describe("A number, or a range `a-b`."),
        position: z.enum(["src", "dst"]),
      })
      .optional(),
    proto: z.object({ value: z.enum(["tcp", "udp"]) }).optional(),
    dev: z.object({ value: z.string(), position: z.enum(["in", "out"]) }).optional(),
  });

const filterRule = () =>
  z.object({
    name: z.string().optional().describe("Unique in the chain; drawn by the webhook when absent."),
    counter: z.boolean().default(true),
    match: z.array(match()),
    action: z.enum(["ctmark", "metamarkfromctmark", "tcpmssclamp", "accept", "drop", "reject", "notrack"]),
    value: z.string().optional().describe("The mark, or the segment size."),
  });

const natRule = () =>
  z.object({
    name: z.string().optional().describe("Unique in the chain; drawn by the webhook when absent."),
    match: z.array(match()),
    natType: z.enum(["dnat", "snat", "masquerade"]),
    to: z.string().optional().describe("An address, or a CIDR of the matched one's length."),
    targetRef: objectReference().optional().describe("The object that the rule is for."),
  });

const routeRule = () => z.object({ name: z.string().optional() });

const chain = () =>
  z.object({
    name: z.string(),
    type: z.enum(["filter", "route", "nat"]),
    policy: z.enum(["drop", "accept"]),
    hook: z.enum(["prerouting", "input", "forward", "output", "postrouting", "ingress"]),
    priority: int32().default(0),
    rules: z
      .object({
        natRules: z.array(natRule()).optional(),
        filterRules: z.array(filterRule()).optional(),
        routeRules: z.array(routeRule()).optional(),
      })
      .refine((rules) => Object.values(rules).filter((list) => list !== undefined).length <= 1, {
        error: "holds more than one kind of rules; use one chain for each kind",
      })
      .meta({ maxProperties: 1 })
      .describe("Rules of one kind, the chain's."),
  });

/** Source: networking.md 4.5 and 12. */
export const FirewallConfiguration = defineKind({
  group: "networking.liqo.io",
  version: "v1beta1",
  kind: "FirewallConfiguration",
  plural: "firewallconfigurations",
  shortNames: ["fw", "fwconfig", "fwcfg"],
  namespaced: true,
  summary: "An nftables table, for the agents that its labels choose.",
  spec: () =>
    z.object({
      table: z.object({
        name: z.string(),
        family: z.enum(["INET", "IPV4", "IPV6", "ARP", "NETDEV", "BRIDGE"]),
        chains: z.array(chain()).optional(),
      }),
    }),
  status: () => z.object({ conditions: appliedConditions().optional() }),
  columns: [AGE],
});
export type FirewallConfiguration = KindObject<typeof FirewallConfiguration>;
