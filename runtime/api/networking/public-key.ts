import { z } from "zod";

import { defineKind, type KindObject } from "../define-kind";

/** Source: networking.md 4.2. */
export const PublicKey = defineKind({
  group: "networking.liqo.io",
  version: "v1beta1",
  kind: "PublicKey",
  plural: "publickeies", // sic: part of the API
  shortNames: ["pk", "pkies", "pkey"],
  namespaced: true,
  summary: "The WireGuard public key of a peer's gateway.",
  spec: () =>
    z.object({
      // A pattern, since an API server's CEL takes other base64 than its fields.
      publicKey: z
        .string()
        .regex(
          /^[A-Za-z0-9+/]{43}=$/,
          "is no WireGuard key, which has 32 bytes; write what `wg pubkey` prints",
        )
        .meta({ format: "byte" })
        .optional()
        .describe("32 bytes; their base64 is the key as WireGuard prints it."),
    }),
});
export type PublicKey = KindObject<typeof PublicKey>;
