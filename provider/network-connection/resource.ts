import type * as pulumi from "@pulumi/pulumi";

import { withSecretKubeconfig, type ClusterArgs } from "../cluster-args";
import { LiqoResource } from "../liqo-resource";

export interface NetworkConnectionArgs extends ClusterArgs {
  /** ID of the cluster at the other end. */
  peerClusterId: pulumi.Input<string>;
  /** Arbitrary values: when one changes, wait again. */
  triggers?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** Longest time to wait, in seconds; 120 by default. */
  timeoutSeconds?: pulumi.Input<number>;
}

/**
 * Waits in a cluster until the tunnel to a peer is up, and says which step is missing while it is not. A refresh looks again: when it is down,
 * the next run waits anew.
 */
export class NetworkConnection extends LiqoResource {
  /** When the connection was established. */
  declare readonly since: pulumi.Output<string>;

  constructor(name: string, args: NetworkConnectionArgs, options?: pulumi.CustomResourceOptions) {
    super("networkConnection", name, { since: undefined, ...withSecretKubeconfig(args) }, options);
  }
}
