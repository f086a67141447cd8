import type * as pulumi from "@pulumi/pulumi";

import { withSecretKubeconfig, type ClusterArgs } from "../cluster-args";
import { LiqoResource } from "../liqo-resource";

export interface TenantNamespaceArgs extends ClusterArgs {
  /** Name of the namespace. */
  name: pulumi.Input<string>;
  /** ID of the cluster that it is for. */
  peer: pulumi.Input<string>;
  /** Beginning of the holder's marks, as no other resource of any stack has it. */
  holder: pulumi.Input<string>;
  /** Who the holder is, in words. */
  heldBy: pulumi.Input<string>;
  /** Longest time to wait for one that is being removed, in seconds; 120 by default. */
  timeoutSeconds?: pulumi.Input<number>;
}

/**
 * The namespace for everything about a peer: made, or the one that is there, and held. With its last holder it goes, if a stack made it and nobody else
 * uses it.
 */
export class TenantNamespace extends LiqoResource {
  declare readonly name: pulumi.Output<string>;
  declare readonly peer: pulumi.Output<string>;
  /** UID of the namespace. */
  declare readonly uid: pulumi.Output<string>;
  /** The mark by which it is held. */
  declare readonly mark: pulumi.Output<string>;

  constructor(name: string, args: TenantNamespaceArgs, options?: pulumi.CustomResourceOptions) {
    super(
      "tenantNamespace",
      name,
      { uid: undefined, mark: undefined, ...withSecretKubeconfig(args) },
      options,
    );
  }
}
