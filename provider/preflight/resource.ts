import type * as pulumi from "@pulumi/pulumi";

import { withSecretKubeconfig, type ClusterArgs } from "../cluster-args";
import { LiqoResource } from "../liqo-resource";

export interface PreflightArgs extends ClusterArgs {
  /** The pod networks that the installation is given; none where it has no networking. */
  podCidrs?: pulumi.Input<pulumi.Input<string>[]>;
  /** Whether the installation is given the address of the API server for its peers; false by default. */
  apiServerGiven?: pulumi.Input<boolean>;
  /** ID of the cluster, as the installation is given it. It stays as long as the installation. */
  clusterId?: pulumi.Input<string>;
  /** The Liqo namespace. It stays as long as the installation. */
  namespace?: pulumi.Input<string>;
}

/**
 * Looks at a cluster before an installation is put there or changed: all of the installation must depend on it.
 */
export class Preflight extends LiqoResource {
  /** Tells clusters apart. */
  declare readonly cluster: pulumi.Output<string>;

  constructor(name: string, args: PreflightArgs, options?: pulumi.CustomResourceOptions) {
    super("preflight", name, { cluster: undefined, ...withSecretKubeconfig(args) }, options);
  }
}
