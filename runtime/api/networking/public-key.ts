import { z } from "zod";

import { defineKind, type KindObject } from "../define-kind";
import { bytes } from "../schema/fields";

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
      publicKey: bytes().optional().describe("32 bytes; their base64 is the key as WireGuard prints it."),
    }),
});
export type PublicKey = KindObject<typeof PublicKey>;
