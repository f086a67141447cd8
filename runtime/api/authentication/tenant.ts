import { z } from "zod";

import { AGE, defineKind, type KindObject } from "../define-kind";
import { bytes, clusterID, observedGeneration } from "../schema/fields";
import { immutable } from "../schema/rules";
import { authParams } from "./auth-params";

/** Source: control-plane.md 2.3. */
export const Tenant = defineKind({
  group: "authentication.liqo.io",
  version: "v1beta1",
  kind: "Tenant",
  plural: "tenants",
  shortNames: ["tn"],
  namespaced: true,
  summary:
    "A consumer that may use this cluster; lives on the provider, in the tenant namespace of the consumer.",
  spec: () =>
    z.object({
      clusterID: immutable(
        clusterID(),
        "ClusterID is immutable",
        "keep it, and make a Tenant for the other cluster in that cluster's tenant namespace",
      )
        .optional()
        .describe("The consumer."),
      authzPolicy: z
        .enum(["KeysExchange", "TolerateNoHandshake"])
        .default("KeysExchange")
        .describe(
          "KeysExchange: the consumer proves its key by a signed nonce and gets certificates. TolerateNoHandshake: an administrator hands out the credentials.",
        ),
      publicKey: bytes()
        .optional()
        .describe("The consumer's public key, PEM; a raw Ed25519 key of 32 bytes is understood too."),
      csr: bytes().optional().describe("The consumer's certificate request, PEM."),
      signature: bytes().optional().describe("The nonce, signed with the consumer's key."),
      proxyURL: z
        .string()
        .optional()
        .describe("HTTP proxy through which the consumer must reach this cluster."),
      tenantCondition: z
        .enum(["Active", "Cordoned", "Drained"])
        .default("Active")
        .describe("Cordoned: nothing new is granted. Drained: everything granted is taken back."),
    }),
  status: () =>
    z.object({
      observedGeneration: observedGeneration(),
      tenantNamespace: z.string().optional().describe("Where the consumer's objects live on this cluster."),
      authParams: authParams().optional().describe("What the consumer needs to reach this cluster."),
    }),
  columns: [{ name: "Condition", jsonPath: ".spec.tenantCondition" }, AGE],
});
export type Tenant = KindObject<typeof Tenant>;
