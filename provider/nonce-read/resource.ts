import type * as pulumi from "@pulumi/pulumi";

import { withSecretKubeconfig, type ClusterArgs } from "../cluster-args";
import { LiqoResource } from "../liqo-resource";

export interface NonceReadArgs extends ClusterArgs {
  /** The consumer's tenant namespace in the provider. */
  namespace: pulumi.Input<string>;
  /** Name of the nonce Secret; `liqo-nonce` by default. */
  name?: pulumi.Input<string>;
  /** Longest time to wait, in seconds; 120 by default. */
  timeoutSeconds?: pulumi.Input<number>;
}

/** Waits in a provider cluster until the nonce for a consumer is there, and reads it. */
export class NonceRead extends LiqoResource {
  /** The nonce's text, to be signed by the consumer; secret. */
  declare readonly nonce: pulumi.Output<string>;

  constructor(name: string, args: NonceReadArgs, options?: pulumi.CustomResourceOptions) {
    super("nonceRead", name, { nonce: undefined, ...withSecretKubeconfig(args) }, options, ["nonce"]);
  }
}
