import type * as apps from "kubernetes-types/apps/v1";
import type * as core from "kubernetes-types/core/v1";
import { z } from "zod";

import { defineKind, type KindObject } from "../define-kind";
import { Label, LabelValue } from "../keys/labels";
import { embedded } from "../schema/embedded";
import {
  anyObject,
  localObjectReference,
  objectReference,
  observedGeneration,
  templateMetadata,
} from "../schema/fields";
import { endpointStatus, internalEndpoint } from "./gateway";

/** What gateways are made of: the workload of each end, and the templates that it comes from. Source: networking.md 4.2. */

const serviceTemplate = () =>
  z.object({
    metadata: templateMetadata().optional(),
    spec: embedded<core.ServiceSpec>("core.ServiceSpec").optional(),
  });

const deploymentTemplate = () =>
  z.object({
    metadata: templateMetadata().optional(),
    spec: embedded<apps.DeploymentSpec>("apps.DeploymentSpec").optional(),
  });

const metrics = () =>
  z.object({
    enabled: z.boolean(),
    service: serviceTemplate().optional(),
    serviceMonitor: z
      .object({ metadata: templateMetadata().optional(), spec: anyObject().optional() })
      .optional()
      .describe("For the Prometheus operator."),
  });

/** A pattern with placeholders, and the kind of the object that it becomes. */
const gatewayTemplateSpec = () =>
  z.object({
    objectKind: z
      .object({ apiVersion: z.string().optional(), kind: z.string().optional() })
      .optional()
      .describe("Kind of the object that is made."),
    template: anyObject()
      .optional()
      .describe("Its metadata and spec; `{{ … }}` is filled in from the gateway."),
  });

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

/** Source: networking.md 4.2 and 9.1. */
export const WgGatewayServerTemplate = defineKind({
  group: "networking.liqo.io",
  version: "v1beta1",
  kind: "WgGatewayServerTemplate",
  plural: "wggatewayservertemplates",
  shortNames: ["wggst", "wgst"],
  namespaced: true,
  summary: "Pattern of a WgGatewayServer.",
  spec: gatewayTemplateSpec,
  labels: { [Label.gatewayTemplate]: LabelValue.true },
});
export type WgGatewayServerTemplate = KindObject<typeof WgGatewayServerTemplate>;

/** Source: networking.md 4.2 and 9.1. */
export const WgGatewayClientTemplate = defineKind({
  group: "networking.liqo.io",
  version: "v1beta1",
  kind: "WgGatewayClientTemplate",
  plural: "wggatewayclienttemplates",
  shortNames: ["wggct", "wgct"],
  namespaced: true,
  summary: "Pattern of a WgGatewayClient.",
  spec: gatewayTemplateSpec,
  labels: { [Label.gatewayTemplate]: LabelValue.true },
});
export type WgGatewayClientTemplate = KindObject<typeof WgGatewayClientTemplate>;
