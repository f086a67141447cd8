import * as pulumi from "@pulumi/pulumi";

import type { KeyPairArgs } from "../key-pair-inputs";
import { dynamicModule, dynamicOptions } from "../resource-options";
import { trampoline } from "../trampoline";

/** An Ed25519 key pair, as it proves a cluster's identity. It is made once and stays until `keepers` change. */
export class Ed25519KeyPair extends pulumi.dynamic.Resource {
  /** Public key, PEM (SPKI). */
  declare readonly publicKey: pulumi.Output<string>;
  /** Private key, PEM (PKCS#8); secret. */
  declare readonly privateKey: pulumi.Output<string>;

  constructor(name: string, args: KeyPairArgs = {}, options?: pulumi.CustomResourceOptions) {
    super(
      trampoline("ed25519KeyPair"),
      name,
      { publicKey: undefined, privateKey: undefined, ...args },
      dynamicOptions(options, ["privateKey"]),
      dynamicModule,
      "Ed25519KeyPair",
    );
  }
}
