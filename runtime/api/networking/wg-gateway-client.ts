import { z } from "zod";

import { defineKind, type KindObject } from "../define-kind";
import { localObjectReference, objectReference, observedGeneration } from "../schema/fields";
import { internalEndpoint } from "./endpoint";
import { deploymentTemplate, metrics } from "./wg-gateway";

/** Source: networking.md 4.2 and 9.3. */
export const WgGatewayClient = defineKind({
  group: "networking.liqo.io",
  version: "v1beta1",
  kind: "WgGatewayClient",
  plural: "wggatewayclients",
  shortNames: ["wgc", "wggc"],
  namespaced: true,
  summary: "The WireGuard client of a GatewayClient: its Deployment, made from the template.",
  spec: () =>
    z.object({
      deployment: deploymentTemplate(),
      metrics: metrics().optional(),
      secretRef: localObjectReference().optional(),
    }),
  status: () =>
    z.object({
      observedGeneration: observedGeneration(),
      secretRef: objectReference().optional(),
      internalEndpoint: internalEndpoint().optional(),
    }),
});
export type WgGatewayClient = KindObject<typeof WgGatewayClient>;
