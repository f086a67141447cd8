import { z } from "zod";

import { generateKeyPair } from "../../runtime/identity";
import { keyPairId, keyPairInputs } from "../key-pair-inputs";
import { resourceFunctions } from "../resource-functions";

/** Keys are made once and live in the state alone, so there is nothing to read, to update or to delete anywhere. */
export const ed25519KeyPair = resourceFunctions({
  type: "Ed25519KeyPair",
  summary: "An Ed25519 key pair, as it proves a cluster's identity, made once and kept in the state.",
  inputs: keyPairInputs,
  computed: z.object({
    publicKey: z.string().describe("Public key, PEM (SPKI)."),
    privateKey: z.string().describe("Private key, PEM (PKCS#8)."),
  }),
  secrets: ["privateKey"],
  secretInputs: [],
  replaceOn: ["keepers"],

  create() {
    const pair = generateKeyPair();
    return Promise.resolve({ id: keyPairId(pair.publicKey), computed: pair });
  },
  read: (_id, state) => Promise.resolve(pairIn(state)),
  update: (_id, olds) => Promise.resolve(pairIn(olds)),
});

function pairIn(state: { publicKey?: string; privateKey?: string }) {
  const { publicKey, privateKey } = state;
  if (publicKey === undefined || privateKey === undefined) {
    throw new Error(
      "the state of this Ed25519KeyPair holds no keys; replace it with `pulumi up --replace <urn>`",
    );
  }
  return { publicKey, privateKey };
}
