import type * as core from "kubernetes-types/core/v1";
import { z } from "zod";

import { AGE, defineKind, type KindObject } from "../define-kind";
import { embedded } from "../schema/embedded";
import { int32, localObjectReference, stringMap } from "../schema/fields";

/** Source: offloading.md 2.7 and 17.3. */
export const VkOptionsTemplate = defineKind({
  group: "offloading.liqo.io",
  version: "v1beta1",
  kind: "VkOptionsTemplate",
  plural: "vkoptionstemplates",
  shortNames: ["vkot", "vkopt"],
  namespaced: true,
  summary: "How virtual nodes are run: options that VirtualNodes take when they name none of their own.",
  spec: () =>
    z.object({
      createNode: z.boolean().describe("Whether VirtualNodes get a Node object."),
      disableNetworkCheck: z.boolean().describe("Whether nodes are Ready without a network connection."),
      containerImage: z.string(),
      metricsEnabled: z.boolean(),
      metricsAddress: z.string().optional().describe("Where metrics are served, as in `:5872`."),
      labelsNotReflected: z.array(z.string()).optional(),
      annotationsNotReflected: z.array(z.string()).optional(),
      reflectorsConfig: z
        .record(
          z.string(),
          z.object({
            workers: z.int().min(0).describe("0 turns the reflection of the resource off."),
            type: z.string().optional().describe("DenyList, AllowList or CustomLiqo."),
          }),
        )
        .optional()
        .describe(
          "By resource: pod, service, endpointslice, ingress, configmap, secret, serviceaccount, persistentvolumeclaim, event.",
        ),
      resources: embedded<core.ResourceRequirements>("core.ResourceRequirements").optional(),
      extraArgs: z.array(z.string()).optional(),
      extraAnnotations: stringMap().optional(),
      extraLabels: stringMap().optional(),
      nodeExtraAnnotations: stringMap().optional(),
      nodeExtraLabels: stringMap().optional(),
      replicas: int32().optional(),
      imagePullSecrets: z.array(localObjectReference()).optional(),
      pullPolicy: z.string().optional().describe("Always, IfNotPresent or Never."),
      tolerations: z.array(embedded<core.Toleration>("core.Toleration")).optional(),
    }),
  columns: [AGE],
});
export type VkOptionsTemplate = KindObject<typeof VkOptionsTemplate>;
