import type * as pulumi from "@pulumi/pulumi";

import { withSecretKubeconfig, type ClusterArgs } from "../cluster-args";
import { LiqoResource } from "../liqo-resource";

export interface GatewayReadArgs extends ClusterArgs {
  /** Which end of the tunnel it is. */
  kind: pulumi.Input<"GatewayServer" | "GatewayClient">;
  /** Namespace of the gateway: the one for everything about the peer. */
  namespace: pulumi.Input<string>;
  /** Name of the gateway. */
  name: pulumi.Input<string>;
  /** Arbitrary values: when one changes, look again. */
  triggers?: pulumi.Input<Record<string, pulumi.Input<string>> | undefined>;
  /** Longest time to wait, in seconds; 120 by default. */
  timeoutSeconds?: pulumi.Input<number>;
}

/**
 * Waits until a gateway has its keys and, for a server, an address, and reads what its peer has to know. A refresh reads it again, so that a
 * new address or key reaches the peer with the next run.
 */
export class GatewayRead extends LiqoResource {
  /** The gateway's WireGuard key, base64; for its peer. */
  declare readonly publicKey: pulumi.Output<string>;
  /** Addresses of a server; none of a client. */
  declare readonly addresses: pulumi.Output<string[]>;
  /** Port of a server; 0 of a client. */
  declare readonly port: pulumi.Output<number>;

  constructor(name: string, args: GatewayReadArgs, options?: pulumi.CustomResourceOptions) {
    super(
      "gatewayRead",
      name,
      { publicKey: undefined, addresses: undefined, port: undefined, ...withSecretKubeconfig(args) },
      options,
    );
  }
}
