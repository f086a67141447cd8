import type * as pulumi from "@pulumi/pulumi";

import { withSecretKubeconfig, type ClusterArgs } from "../cluster-args";
import { LiqoResource } from "../liqo-resource";

export interface ClusterNetworksArgs extends ClusterArgs {
  /** Namespace of the control plane; `liqo` by default. */
  liqoNamespace?: pulumi.Input<string>;
  /** Pod networks of the cluster's installation; another one of its making is about to be removed. By default whatever is there counts. */
  installedPodCidrs?: pulumi.Input<pulumi.Input<string>[] | undefined>;
  /** Which end of the tunnel to the peer the cluster has; it stays as long as the tunnel. */
  gateway?: pulumi.Input<"GatewayServer" | "GatewayClient">;
  /** Arbitrary values: when one changes, look again. */
  triggers?: pulumi.Input<Record<string, pulumi.Input<string>> | undefined>;
  /** Longest time to wait, in seconds; 120 by default. */
  timeoutSeconds?: pulumi.Input<number>;
}

/** Waits until a cluster has given its own networks their ranges, and reads those that peers are told. */
export class ClusterNetworks extends LiqoResource {
  /** Networks of the cluster's pods. */
  declare readonly podCidrs: pulumi.Output<string[]>;
  /** Network by which peers know what is no pod. */
  declare readonly externalCidr: pulumi.Output<string>;

  constructor(name: string, args: ClusterNetworksArgs, options?: pulumi.CustomResourceOptions) {
    super(
      "clusterNetworks",
      name,
      { podCidrs: undefined, externalCidr: undefined, ...withSecretKubeconfig(args) },
      options,
    );
  }
}
