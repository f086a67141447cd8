import { z } from "zod";

import { AGE, defineKind, type KindObject } from "../define-kind";
import { bytes, clusterID, localObjectReference, observedGeneration } from "../schema/fields";
import { authParams } from "./auth-params";

/** Source: control-plane.md 2.6. */
export const Renew = defineKind({
  group: "authentication.liqo.io",
  version: "v1beta1",
  kind: "Renew",
  plural: "renews",
  namespaced: true,
  summary:
    "Carries renewed certificates of a control-plane Identity from the provider to the consumer, in its status.",
  spec: () =>
    z.object({
      consumerClusterID: clusterID().optional(),
      publicKey: bytes().optional(),
      csr: bytes().optional(),
      identityType: z.string().optional().describe("Type of the Identity that is renewed."),
      resourceSliceRef: localObjectReference().optional(),
    }),
  status: () => z.object({ observedGeneration: observedGeneration(), authParams: authParams().optional() }),
  columns: [AGE],
});
export type Renew = KindObject<typeof Renew>;
