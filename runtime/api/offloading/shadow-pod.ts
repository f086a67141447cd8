import type * as core from "kubernetes-types/core/v1";
import { z } from "zod";

import { AGE, defineKind, type KindObject } from "../define-kind";
import { observedGeneration } from "../schema/fields";
import { embedded } from "../schema/embedded";

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
