import type * as pulumi from "@pulumi/pulumi";

import { withSecretKubeconfig, type ClusterArgs } from "../cluster-args";
import { LiqoResource } from "../liqo-resource";

export interface RemovalGuardArgs extends ClusterArgs {
  /** The Liqo namespace. */
  namespace: pulumi.Input<string>;
  /** Longest time to wait for what is removed, in seconds; 60 by default. */
  timeoutSeconds?: pulumi.Input<number>;
}

/**
 * Refuses the removal of an installation that has peerings or offloaded namespaces, and removes what its controllers leave behind while they
 * still run: it must depend on the controllers' Deployments.
 */
export class RemovalGuard extends LiqoResource {
  constructor(name: string, args: RemovalGuardArgs, options?: pulumi.CustomResourceOptions) {
    super("removalGuard", name, withSecretKubeconfig(args), options);
  }
}
