import type * as core from "kubernetes-types/core/v1";
import type * as discovery from "kubernetes-types/discovery/v1";
import { z } from "zod";

import { AGE, defineKind, type KindObject } from "../define-kind";
import { embedded } from "../schema/embedded";
import { observedGeneration, resourceList } from "../schema/fields";

/** What a consumer makes at its provider, and the quota that it is held to. */

/** A pod's spec with the resources of the pod as a whole, which Kubernetes has had since 1.32 and the package of its types lacks. */
export type WholePodSpec = core.PodSpec & { resources?: core.ResourceRequirements };

/**
 * Source: offloading.md 2.4. The pod is owned as a whole: it has one writer, and the list of its fields in `managedFields` would make every
 * object, write and watch event almost twice as large.
 */
export const ShadowPod = defineKind({
  group: "offloading.liqo.io",
  version: "v1beta1",
  kind: "ShadowPod",
  plural: "shadowpods",
  shortNames: ["shp", "shpod"],
  namespaced: true,
  summary:
    "A pod that a consumer wants at this provider; the only way in which a consumer can make pods here.",
  spec: () =>
    z.object({
      pod: embedded<WholePodSpec>("core.PodSpec")
        .optional()
        .meta({ description: "The spec of the pod.", "x-kubernetes-map-type": "atomic" }),
    }),
  status: () =>
    z.object({
      observedGeneration: observedGeneration(),
      phase: z.enum(["Pending", "Running", "Succeeded", "Failed", "Unknown"]).default("Unknown"),
      reason: z
        .string()
        .optional()
        .describe(
          "Why there is no pod, in one word, while the provider makes none. Ours, as is the message.",
        ),
      message: z.string().optional().describe("The same for people, with the way out."),
    }),
  columns: [{ name: "Status", jsonPath: ".status.phase" }, AGE],
});
export type ShadowPod = KindObject<typeof ShadowPod>;

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

/** Source: offloading.md 2.6. */
export const Quota = defineKind({
  group: "offloading.liqo.io",
  version: "v1beta1",
  kind: "Quota",
  plural: "quotas",
  shortNames: ["qt"],
  namespaced: true,
  summary:
    "Resources that one identity of a consumer may use at this provider; belongs to its ResourceSlice.",
  spec: () =>
    z.object({
      user: z.string().min(1).describe("Name in the identity's certificate."),
      limitsEnforcement: z
        .enum(["Hard", "Soft", "None"])
        .optional()
        .describe(
          "Soft: containers must request cpu and memory. Hard: their limits must equal the requests, too.",
        ),
      resources: resourceList().describe("Amounts by resource name."),
      cordoned: z.boolean().optional().describe("Whether new pods are refused."),
    }),
  columns: [
    { name: "Enforcement", jsonPath: ".spec.limitsEnforcement" },
    { name: "Cordoned", type: "boolean", jsonPath: ".spec.cordoned" },
    AGE,
    { name: "User", jsonPath: ".spec.user", priority: 1 },
  ],
});
export type Quota = KindObject<typeof Quota>;
