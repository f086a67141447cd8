import { z } from "zod";

import { AGE, defineKind, type KindObject } from "../define-kind";
import { localObjectReference, objectReference, observedGeneration } from "../schema/fields";
import { clientEndpoint, internalEndpoint, tunnelMtu } from "./endpoint";

/** Source: networking.md 4.2 and 9. */
export const GatewayClient = defineKind({
  group: "networking.liqo.io",
  version: "v1beta1",
  kind: "GatewayClient",
  plural: "gatewayclients",
  shortNames: ["gwc", "gwclient"],
  namespaced: true,
  summary: "The end of a tunnel that connects to a peer.",
  spec: () =>
    z.object({
      clientTemplateRef: objectReference().optional().describe("Template that the gateway is made from."),
      mtu: tunnelMtu().optional(),
      endpoint: clientEndpoint().optional().describe("Where the peer's server is reached."),
      secretRef: localObjectReference()
        .optional()
        .describe("Secret with the WireGuard keys; made when absent."),
    }),
  status: () =>
    z.object({
      observedGeneration: observedGeneration(),
      clientRef: objectReference().optional().describe("The object made from the template."),
      secretRef: objectReference().optional(),
      internalEndpoint: internalEndpoint().optional(),
    }),
  columns: [
    { name: "Template Kind", jsonPath: ".spec.clientTemplateRef.kind", priority: 1 },
    { name: "Template Name", jsonPath: ".spec.clientTemplateRef.name" },
    { name: "Template Namespace", jsonPath: ".spec.clientTemplateRef.namespace", priority: 1 },
    { name: "IP", jsonPath: ".spec.endpoint.addresses[*]" },
    { name: "Port", jsonPath: ".spec.endpoint.port" },
    { name: "Protocol", jsonPath: ".spec.endpoint.protocol", priority: 1 },
    { name: "MTU", type: "integer", jsonPath: ".spec.mtu", priority: 1 },
    AGE,
  ],
});
export type GatewayClient = KindObject<typeof GatewayClient>;
