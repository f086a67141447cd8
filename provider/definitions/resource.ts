import type * as pulumi from "@pulumi/pulumi";

import { withSecretKubeconfig, type ClusterArgs } from "../cluster-args";
import { LiqoResource } from "../liqo-resource";

export interface DefinitionsArgs extends ClusterArgs {
  /** Digest of the definitions, so that those of another version of the package are a change. */
  digest: pulumi.Input<string>;
  /** Longest time to wait for each, in seconds; 120 by default. */
  timeoutSeconds?: pulumi.Input<number>;
}

/**
 * The definitions (CRDs) of all kinds in a cluster, established. They are changed in place and never replaced; removing them removes the
 * objects of these kinds.
 */
export class Definitions extends LiqoResource {
  /** Names of the definitions. */
  declare readonly names: pulumi.Output<string[]>;

  constructor(name: string, args: DefinitionsArgs, options?: pulumi.CustomResourceOptions) {
    super("definitions", name, { names: undefined, ...withSecretKubeconfig(args) }, options);
  }
}
