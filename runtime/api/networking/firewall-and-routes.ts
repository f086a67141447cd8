import { z } from "zod";

import { AGE, defineKind, type KindObject } from "../define-kind";
import { cidr, int32, int64, ipv4, objectReference, time } from "../schema/fields";

/** What became of a configuration on each host that applies it. Source: networking.md 4.4. */
const appliedConditions = () =>
  z.array(
    z.object({
      host: z.string().describe("The agent: a pod's name, or a node's."),
      type: z.enum(["Applied", "Error"]),
      status: z.enum(["True", "False", "Unknown"]),
      observedGeneration: int64().optional().describe("metadata.generation of the spec that it is about."),
      lastTransitionTime: time().optional(),
    }),
  );

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

const route = () =>
  z.object({
    dst: cidr(),
    src: ipv4().optional(),
    gw: ipv4().optional(),
    dev: z.string().optional(),
    onlink: z.boolean().optional(),
    scope: z.enum(["global", "link", "host", "site", "nowhere"]).optional(),
    targetRef: objectReference().optional().describe("The object that the route is for."),
  });

const rule = () =>
  z.object({
    dst: cidr().optional(),
    src: cidr().optional(),
    iif: z.string().optional(),
    oif: z.string().optional(),
    fwmark: z.int().optional(),
    priority: z.int().optional().describe("Chosen by the kernel when absent."),
    routes: z.array(route()),
    targetRef: objectReference().optional().describe("The object that the rule is for."),
  });

/** Source: networking.md 4.4 and 13. */
export const RouteConfiguration = defineKind({
  group: "networking.liqo.io",
  version: "v1beta1",
  kind: "RouteConfiguration",
  plural: "routeconfigurations",
  shortNames: ["rcnf", "rcnfg", "rcfg", "routecfg"],
  namespaced: true,
  summary: "A routing table with the rules that lead to it, for the agents that its labels choose.",
  spec: () =>
    z.object({
      table: z.object({
        name: z.string(),
        rules: z.array(rule()).min(1),
        targetRef: objectReference().optional().describe("The object that the table is for."),
      }),
    }),
  status: () => z.object({ conditions: appliedConditions().optional() }),
  columns: [AGE],
});
export type RouteConfiguration = KindObject<typeof RouteConfiguration>;
