import * as pulumi from "@pulumi/pulumi";

import { withSecretKubeconfig, type ClusterArgs } from "../cluster-inputs";
import { dynamicModule, dynamicOptions } from "../resource-options";
import { trampoline } from "../trampoline";

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
export class RemovalGuard extends pulumi.dynamic.Resource {
  constructor(name: string, args: RemovalGuardArgs, options?: pulumi.CustomResourceOptions) {
    super(
      trampoline("removalGuard"),
      name,
      withSecretKubeconfig(args),
      dynamicOptions(options, []),
      dynamicModule,
      "RemovalGuard",
    );
  }
}
