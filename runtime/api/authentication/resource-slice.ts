import { z } from "zod";

import { AGE, defineKind, type KindObject } from "../define-kind";
import { ingressClasses, loadBalancerClasses, storageClasses } from "../schema/classes";
import { bytes, clusterID, observedGeneration, resourceList, stringMap, transition } from "../schema/fields";
import { authParams } from "./auth-params";

/** Source: control-plane.md 2.5. */
export const ResourceSlice = defineKind({
  group: "authentication.liqo.io",
  version: "v1beta1",
  kind: "ResourceSlice",
  plural: "resourceslices",
  shortNames: ["rslice"],
  namespaced: true,
  summary:
    "Resources that a consumer asks of a provider; made on the consumer, copied to the provider, whose answer is the status.",
  spec: () =>
    z.object({
      consumerClusterID: clusterID().optional().describe("Filled by the consumer when absent."),
      providerClusterID: clusterID().optional().describe("Filled from the namespace when absent."),
      resources: resourceList()
        .optional()
        .describe("Amounts asked for, by resource name; the provider's defaults for the rest."),
      class: z.string().optional().describe("Who grants at the provider; empty and `default` are built in."),
      csr: bytes()
        .optional()
        .describe("Certificate request of this slice's identity, PEM; filled by the consumer when absent."),
    }),
  status: () =>
    z.object({
      observedGeneration: observedGeneration(),
      conditions: z
        .array(
          z.object({
            type: z.enum(["Authentication", "Resources"]),
            status: z.enum(["Accepted", "Denied"]),
            ...transition(),
          }),
        )
        .optional(),
      resources: resourceList().optional().describe("Amounts granted."),
      authParams: authParams().optional(),
      storageClasses: storageClasses().optional(),
      ingressClasses: ingressClasses().optional(),
      loadBalancerClasses: loadBalancerClasses().optional(),
      nodeLabels: stringMap().optional().describe("Labels for the virtual node."),
      nodeSelector: stringMap().optional().describe("Nodes of the provider that pods of this slice go to."),
    }),
  columns: [
    { name: "Authentication", jsonPath: '.status.conditions[?(@.type=="Authentication")].status' },
    { name: "Resources", jsonPath: '.status.conditions[?(@.type=="Resources")].status' },
    AGE,
  ],
});
export type ResourceSlice = KindObject<typeof ResourceSlice>;
