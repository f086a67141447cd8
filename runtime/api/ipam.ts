import type * as core from "kubernetes-types/core/v1";
import { z } from "zod";

import { AGE, defineKind, type KindObject } from "./define-kind";
import { embedded } from "./schema/embedded";
import {
  cidr,
  immutable,
  int32,
  ipv4,
  objectReference,
  observedGeneration,
  templateMetadata,
} from "./schema/fields";

/** Source: networking.md 4.1 and 8. */
export const IP = defineKind({
  group: "ipam.liqo.io",
  version: "v1alpha1",
  kind: "IP",
  plural: "ips",
  namespaced: true,
  summary: "An address that peers can reach, through an address of the external CIDR that stands for it.",
  spec: () =>
    z.object({
      ip: immutable(ipv4(), "ip is immutable", "make a new IP").describe("The address in this cluster."),
      networkRef: objectReference()
        .optional()
        .describe("Network to take the address from; the cluster's external CIDR when absent."),
      serviceTemplate: z
        .object({
          metadata: templateMetadata().optional(),
          spec: embedded<core.ServiceSpec>("core.ServiceSpec").optional(),
        })
        .optional()
        .describe("Service to make for the address, with the name of the IP."),
      masquerade: z
        .boolean()
        .optional()
        .describe("Whether traffic to the address leaves with the node's address."),
    }),
  status: () =>
    z.object({
      observedGeneration: observedGeneration(),
      ip: immutable(ipv4(), "ip is immutable once it was given", "delete the IP and make a new one")
        .optional()
        .describe("The address under which peers reach it."),
      cidr: immutable(cidr(), "cidr is immutable once it was given", "delete the IP and make a new one")
        .optional()
        .describe("The network it was taken from."),
    }),
  columns: [
    { name: "Local IP", jsonPath: ".spec.ip" },
    { name: "Remapped IP", jsonPath: ".status.ip" },
    { name: "Remapped IP CIDR", jsonPath: ".status.cidr" },
    AGE,
  ],
});
export type IP = KindObject<typeof IP>;

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
