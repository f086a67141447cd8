import type * as discovery from "kubernetes-types/discovery/v1";
import { z } from "zod";

import { defineKind, type KindObject } from "../define-kind";
import { embedded } from "../schema/embedded";

/** Source: offloading.md 2.5. The template is owned as a whole, as the pod of a ShadowPod is. */
export const ShadowEndpointSlice = defineKind({
  group: "offloading.liqo.io",
  version: "v1beta1",
  kind: "ShadowEndpointSlice",
  plural: "shadowendpointslices",
  shortNames: ["shes", "sheps", "seps"],
  namespaced: true,
  summary:
    "Endpoints of a consumer's service that do not run at this provider; become an EndpointSlice here.",
  spec: () =>
    z.object({
      template: z
        .object({
          endpoints: z.array(embedded<discovery.Endpoint>("discovery.Endpoint")).optional(),
          ports: z.array(embedded<discovery.EndpointPort>("discovery.EndpointPort")).optional(),
          addressType: z.string().optional().describe("IPv4, IPv6 or FQDN."),
        })
        .optional()
        .meta({ "x-kubernetes-map-type": "atomic" }),
    }),
});
export type ShadowEndpointSlice = KindObject<typeof ShadowEndpointSlice>;
