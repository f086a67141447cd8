import * as pulumi from "@pulumi/pulumi";

import { withSecretKubeconfig, type ClusterArgs } from "../cluster-args";
import { LiqoResource } from "../liqo-resource";

export interface TenantCredentialsArgs extends ClusterArgs {
  /** ID of the consumer. */
  clusterID: pulumi.Input<string>;
  /** Liqo's namespace in the consumer; `liqo` by default. */
  liqoNamespace?: pulumi.Input<string>;
  /** The provider's tenant namespace in the consumer. */
  namespace: pulumi.Input<string>;
  /** Name of the Secret with the signed nonce; `liqo-signed-nonce` by default. */
  name?: pulumi.Input<string>;
  /** The nonce that must be signed, from `NonceRead`; kept as a secret. */
  nonce: pulumi.Input<string>;
  /** Longest time to wait, in seconds; 120 by default. */
  timeoutSeconds?: pulumi.Input<number>;
}

/**
 * Waits in a consumer cluster until the nonce is signed, and makes what the provider's Tenant needs. The cluster's private key is used where
 * this runs and is not part of the state.
 */
export class TenantCredentials extends LiqoResource {
  /** The consumer's public key as in `Tenant.spec.publicKey`: base64 of PEM. */
  declare readonly publicKey: pulumi.Output<string>;
  /** The certificate request of its control plane as in `Tenant.spec.csr`: base64 of PEM. */
  declare readonly csr: pulumi.Output<string>;
  /** The nonce's signature as in `Tenant.spec.signature`: base64. */
  declare readonly signature: pulumi.Output<string>;

  constructor(name: string, args: TenantCredentialsArgs, options?: pulumi.CustomResourceOptions) {
    const inputs = { ...withSecretKubeconfig(args), nonce: pulumi.secret(args.nonce) };
    super(
      "tenantCredentials",
      name,
      { publicKey: undefined, csr: undefined, signature: undefined, ...inputs },
      options,
    );
  }
}
