import type * as pulumi from "@pulumi/pulumi";

import { withSecretKubeconfig, type ClusterArgs } from "../cluster-args";
import { LiqoResource } from "../liqo-resource";

export interface NetworkingGuardArgs extends ClusterArgs {
  /** Whether the installation has networking. */
  networking: pulumi.Input<boolean>;
}

/**
 * Refuses to take networking out of an installation whose networks are connected to others: the controllers' Deployments must depend on it.
 */
export class NetworkingGuard extends LiqoResource {
  constructor(name: string, args: NetworkingGuardArgs, options?: pulumi.CustomResourceOptions) {
    super("networkingGuard", name, withSecretKubeconfig(args), options);
  }
}
