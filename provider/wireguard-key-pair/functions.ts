import { z } from "zod";

import { generateWireGuardKeyPair } from "../../runtime/identity";
import { keyPairId, keyPairInputs } from "../key-pair-inputs";
import { resourceFunctions } from "../resource-functions";

/** Keys are made once and live in the state alone, so there is nothing to read, to update or to delete anywhere. */
export const wireGuardKeyPair = resourceFunctions({
  type: "WireGuardKeyPair",
  summary: "The X25519 key pair of a WireGuard interface, made once and kept in the state.",
  inputs: keyPairInputs,
  computed: z.object({
    publicKey: z.string().describe("Public key, base64 of 32 bytes, as `wg` prints it."),
    privateKey: z.string().describe("Private key, base64 of 32 bytes."),
  }),
  secrets: ["privateKey"],
  secretInputs: [],
  replaceOn: ["keepers"],

  create() {
    const pair = generateWireGuardKeyPair();
    return Promise.resolve({ id: keyPairId(pair.publicKey), computed: pair });
  },
  read: (_id, state) => Promise.resolve(pairIn(state)),
  update: (_id, olds) => Promise.resolve(pairIn(olds)),
});

function pairIn(state: { publicKey?: string; privateKey?: string }) {
  const { publicKey, privateKey } = state;
  if (publicKey === undefined || privateKey === undefined) {
    throw new Error(
      "the state of this WireGuardKeyPair holds no keys; replace it with `pulumi up --replace <urn>`",
    );
  }
  return { publicKey, privateKey };
}
