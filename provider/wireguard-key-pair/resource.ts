import type * as pulumi from "@pulumi/pulumi";

import type { KeyPairArgs } from "../key-pair-inputs";
import { LiqoResource } from "../liqo-resource";

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
