import { z } from "zod";

import { AGE, defineKind, type KindObject } from "../define-kind";
import { resourceList } from "../schema/fields";

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
