import { z } from "zod";

import { defineKind, type KindObject } from "../define-kind";
import { localObjectReference, objectReference, observedGeneration } from "../schema/fields";
import { endpointStatus, internalEndpoint } from "./endpoint";
import { deploymentTemplate, metrics, serviceTemplate } from "./wg-gateway";

/** Source: networking.md 4.2 and 9.3. */
export const WgGatewayServer = defineKind({
  group: "networking.liqo.io",
  version: "v1beta1",
  kind: "WgGatewayServer",
  plural: "wggatewayservers",
  shortNames: ["wgs", "wggs"],
  namespaced: true,
  summary: "The WireGuard server of a GatewayServer: its Service and Deployment, made from the template.",
  spec: () =>
    z.object({
      service: serviceTemplate(),
      deployment: deploymentTemplate(),
      metrics: metrics().optional(),
      secretRef: localObjectReference().optional(),
    }),
  status: () =>
    z.object({
      observedGeneration: observedGeneration(),
      secretRef: objectReference().optional(),
      endpoint: endpointStatus().optional(),
      internalEndpoint: internalEndpoint().optional(),
    }),
});
export type WgGatewayServer = KindObject<typeof WgGatewayServer>;
