import { z } from "zod";

import { AGE, defineKind, type KindObject } from "../define-kind";
import { Label } from "../keys/labels";
import { observedGeneration, stringMap } from "../schema/fields";

/** Source: offloading.md 2.2. */
export const NamespaceMap = defineKind({
  group: "offloading.liqo.io",
  version: "v1beta1",
  kind: "NamespaceMap",
  plural: "namespacemaps",
  shortNames: ["nm", "nsmap"],
  namespaced: true,
  summary:
    "Namespaces that a consumer wants at a provider; made on the consumer, copied to the provider, whose answer is the status.",
  spec: () =>
    z.object({
      desiredMapping: stringMap().optional().describe("Remote namespace by local namespace."),
    }),
  status: () =>
    z.object({
      observedGeneration: observedGeneration(),
      currentMapping: z
        .record(
          z.string(),
          z.object({
            remoteNamespace: z.string().optional(),
            phase: z.enum(["Accepted", "CreationLoopBackOff", "Terminating"]).optional(),
          }),
        )
        .optional()
        .describe("What the provider made of it, by local namespace."),
    }),
  columns: [{ name: "Local", jsonPath: `.metadata.labels.${Label.replication.replaceAll(".", "\\.")}` }, AGE],
});
export type NamespaceMap = KindObject<typeof NamespaceMap>;
