import { z } from "zod";

import { AGE, defineKind, type KindObject } from "../define-kind";
import { clusterID, localObjectReference, observedGeneration } from "../schema/fields";
import { authParams } from "./auth-params";

/** Source: control-plane.md 2.4. */
export const Identity = defineKind({
  group: "authentication.liqo.io",
  version: "v1beta1",
  kind: "Identity",
  plural: "identities",
  shortNames: ["id"],
  namespaced: true,
  summary:
    "Access to a provider; lives on the consumer, in the tenant namespace of the provider, and becomes a kubeconfig secret.",
  spec: () =>
    z.object({
      clusterID: clusterID().optional().describe("The provider."),
      type: z
        .enum(["ControlPlane", "ResourceSlice"])
        .optional()
        .describe(
          "ControlPlane: for replicating objects. ResourceSlice: for running pods against one slice.",
        ),
      authParams: authParams().optional(),
      namespace: z
        .string()
        .optional()
        .describe("Tenant namespace at the provider; set for ControlPlane identities only."),
    }),
  status: () =>
    z.object({
      observedGeneration: observedGeneration(),
      kubeconfigSecretRef: localObjectReference()
        .optional()
        .describe("Secret with the kubeconfig, in the same namespace."),
    }),
  columns: [
    { name: "Type", jsonPath: ".spec.type" },
    { name: "KubeconfigSecret", jsonPath: ".status.kubeconfigSecretRef.name", priority: 1 },
    AGE,
  ],
});
export type Identity = KindObject<typeof Identity>;
