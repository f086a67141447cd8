/** Key pairs are made once and kept in the state alone, so there is nothing in a cluster to read, to update or to delete. */
import { createHash } from "node:crypto";

import type * as pulumi from "@pulumi/pulumi";
import { z } from "zod";

import { generateKeyPair, generateWireGuardKeyPair } from "../runtime/identity";
import { resourceFunctions } from "./core/lifecycle";
import { LiqoResource } from "./core/liqo-resource";

const inputs = z.object({
  keepers: z
    .record(z.string(), z.string())
    .optional()
    .describe(
      "Arbitrary values that the keys depend on: when one changes, the pair is replaced by a new one.",
    ),
});

interface KeyPair {
  publicKey: string;
  privateKey: string;
}

/** What the two kinds of key pair share. */
function keyPairFunctions(
  type: string,
  summary: string,
  computed: z.ZodObject<{ publicKey: z.ZodString; privateKey: z.ZodString }>,
  generate: () => KeyPair,
) {
  const pairIn = ({ publicKey, privateKey }: Partial<KeyPair>): KeyPair => {
    if (publicKey === undefined || privateKey === undefined) {
      throw new Error(
        `the state of this ${type} holds no keys; replace it with \`pulumi up --replace <urn>\``,
      );
    }
    return { publicKey, privateKey };
  };
  return resourceFunctions({
    type,
    summary,
    inputs,
    computed,
    secrets: ["privateKey"],
    secretInputs: [],
    replaceOn: ["keepers"],

    create() {
      const pair = generate();
      return Promise.resolve({ id: keyPairId(pair.publicKey), computed: pair });
    },
    read: (_id, state) => Promise.resolve(pairIn(state)),
    update: (_id, olds) => Promise.resolve(pairIn(olds)),
  });
}

/** Identifies a key pair without revealing it: the start of the public key's hash. */
function keyPairId(publicKey: string): string {
  return createHash("sha256").update(publicKey).digest("hex").slice(0, 16);
}

export const ed25519KeyPair = keyPairFunctions(
  "Ed25519KeyPair",
  "An Ed25519 key pair, as it proves a cluster's identity, made once and kept in the state.",
  z.object({
    publicKey: z.string().describe("Public key, PEM (SPKI)."),
    privateKey: z.string().describe("Private key, PEM (PKCS#8)."),
  }),
  generateKeyPair,
);

export const wireGuardKeyPair = keyPairFunctions(
  "WireGuardKeyPair",
  "The X25519 key pair of a WireGuard interface, made once and kept in the state.",
  z.object({
    publicKey: z.string().describe("Public key, base64 of 32 bytes, as `wg` prints it."),
    privateKey: z.string().describe("Private key, base64 of 32 bytes."),
  }),
  generateWireGuardKeyPair,
);

export interface KeyPairArgs {
  /** Arbitrary values that the keys depend on: when one changes, the pair is replaced by a new one. */
  keepers?: pulumi.Input<Record<string, pulumi.Input<string>>>;
}

/** An Ed25519 key pair, as it proves a cluster's identity. It is made once and stays until `keepers` change. */
export class Ed25519KeyPair extends LiqoResource {
  /** Public key, PEM (SPKI). */
  declare readonly publicKey: pulumi.Output<string>;
  /** Private key, PEM (PKCS#8); secret. */
  declare readonly privateKey: pulumi.Output<string>;

  constructor(name: string, args: KeyPairArgs = {}, options?: pulumi.CustomResourceOptions) {
    super("ed25519KeyPair", name, { publicKey: undefined, privateKey: undefined, ...args }, options, [
      "privateKey",
    ]);
  }
}

/** The X25519 key pair of a WireGuard interface. It is made once and stays until `keepers` change. */
export class WireGuardKeyPair extends LiqoResource {
  /** Public key, base64 of 32 bytes, as `wg` prints it. */
  declare readonly publicKey: pulumi.Output<string>;
  /** Private key, base64 of 32 bytes; secret. */
  declare readonly privateKey: pulumi.Output<string>;

  constructor(name: string, args: KeyPairArgs = {}, options?: pulumi.CustomResourceOptions) {
    super("wireGuardKeyPair", name, { publicKey: undefined, privateKey: undefined, ...args }, options, [
      "privateKey",
    ]);
  }
}
