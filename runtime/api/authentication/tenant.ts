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
      rotatedPublicKey: z
        .string()
        .optional()
        .describe(
          "Fingerprint of the public key that the consumer, proving itself by the one before, put in its place; this key needs no signature of the nonce. Not upstream's.",
        ),
      replacedPublicKeys: z
        .array(z.string())
        .optional()
        .describe(
          "Fingerprints of the keys before, the last one first; slices whose request is still for one of them keep what they have. Not upstream's.",
        ),
      drainedRoleBindings: z
        .array(
          z.object({
            name: z.string(),
            namespace: z.string(),
            labels: z.record(z.string(), z.string()).optional(),
            clusterRole: z.string(),
            subjects: z.array(
              z.object({
                kind: z.string(),
                name: z.string(),
                apiGroup: z.string().optional(),
                namespace: z.string().optional(),
              }),
            ),
          }),
        )
        .optional()
        .describe(
          "The administrator's role bindings that draining took away, to be brought back with the Tenant. Not upstream's.",
        ),
    }),
  columns: [{ name: "Condition", jsonPath: ".spec.tenantCondition" }, AGE],
});
export type Tenant = KindObject<typeof Tenant>;
