import type * as pulumi from "@pulumi/pulumi";

import type { KeyPairArgs } from "../key-pair-inputs";
import { LiqoResource } from "../liqo-resource";

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
