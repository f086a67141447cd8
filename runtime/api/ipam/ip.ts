import type * as core from "kubernetes-types/core/v1";
import { z } from "zod";

import { AGE, defineKind, type KindObject } from "../define-kind";
import { embedded } from "../schema/embedded";
import { cidr, ipv4, objectReference, observedGeneration, templateMetadata } from "../schema/fields";
import { immutable } from "../schema/rules";

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
