import * as pulumi from "@pulumi/pulumi";

import { withSecretKubeconfig, type ClusterArgs } from "../cluster-args";
import { LiqoResource } from "../liqo-resource";

export interface ProxyReadArgs extends ClusterArgs {
  /** Namespace of the provider's control plane; `liqo` by default. */
  liqoNamespace?: pulumi.Input<string>;
  /** Text of the kubeconfig of the consumer; kept as a secret. */
  consumerKubeconfig: pulumi.Input<string>;
  /** Namespace at the consumer for everything about the provider. */
  tenantNamespace: pulumi.Input<string>;
  /** ID of the provider. */
  providerClusterId: pulumi.Input<string>;
  /** Arbitrary values: when one changes, look again. */
  triggers?: pulumi.Input<Record<string, pulumi.Input<string>> | undefined>;
  /** Longest time to wait, in seconds; 120 by default. */
  timeoutSeconds?: pulumi.Input<number>;
}

/** Waits until a provider's API server proxy has an address that peers reach, and reads it as the consumer knows it. */
export class ProxyRead extends LiqoResource {
  /** The proxy, as the consumer reaches it. */
  declare readonly url: pulumi.Output<string>;

  constructor(name: string, args: ProxyReadArgs, options?: pulumi.CustomResourceOptions) {
    const secret = withSecretKubeconfig(args);
    const consumerKubeconfig = pulumi.secret(args.consumerKubeconfig);
    super("proxyRead", name, { url: undefined, ...secret, consumerKubeconfig }, options);
  }
}
