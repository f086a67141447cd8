import type * as apps from "kubernetes-types/apps/v1";
import type * as core from "kubernetes-types/core/v1";
import { z } from "zod";

import { embedded } from "../schema/embedded";
import { anyObject, templateMetadata } from "../schema/fields";

/** The parts that both ends of a WireGuard gateway share. Source: networking.md 4.2. */

export const serviceTemplate = () =>
  z.object({
    metadata: templateMetadata().optional(),
    spec: embedded<core.ServiceSpec>("core.ServiceSpec").optional(),
  });

export const deploymentTemplate = () =>
  z.object({
    metadata: templateMetadata().optional(),
    spec: embedded<apps.DeploymentSpec>("apps.DeploymentSpec").optional(),
  });

export const metrics = () =>
  z.object({
    enabled: z.boolean(),
    service: serviceTemplate().optional(),
    serviceMonitor: z
      .object({ metadata: templateMetadata().optional(), spec: anyObject().optional() })
      .optional()
      .describe("For the Prometheus operator."),
  });

/** A pattern with placeholders, and the kind of the object that it becomes. */
export const gatewayTemplateSpec = () =>
  z.object({
    objectKind: z
      .object({ apiVersion: z.string().optional(), kind: z.string().optional() })
      .optional()
      .describe("Kind of the object that is made."),
    template: anyObject()
      .optional()
      .describe("Its metadata and spec; `{{ … }}` is filled in from the gateway."),
  });
