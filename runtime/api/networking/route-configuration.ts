import { z } from "zod";

import { AGE, defineKind, type KindObject } from "../define-kind";
import { cidr, ipv4, objectReference } from "../schema/fields";
import { appliedConditions } from "./applied-condition";

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
