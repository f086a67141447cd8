import type * as pulumi from "@pulumi/pulumi";

import type { AuthParams } from "../../runtime/api";
import { withSecretKubeconfig, type ClusterArgs } from "../cluster-args";
import { LiqoResource } from "../liqo-resource";

export interface IdentityCredentialsArgs extends ClusterArgs {
  /** The consumer's tenant namespace in the provider. */
  namespace: pulumi.Input<string>;
  /** Name of the consumer's Tenant, by convention its cluster ID. */
  name: pulumi.Input<string>;
  /** The request that the certificate must answer, from `TenantCredentials`; any certificate will do without it. */
  csr?: pulumi.Input<string>;
  /** The proxy that the credentials must go through, empty for none; any will do without it. */
  proxyUrl?: pulumi.Input<string>;
  /** URL of the API server that the credentials must be for; any will do without it. */
  apiServer?: pulumi.Input<string | undefined>;
  /** Arbitrary values: when one changes, look again. */
  triggers?: pulumi.Input<Record<string, pulumi.Input<string>> | undefined>;
  /** Longest time to wait, in seconds; 120 by default. */
  timeoutSeconds?: pulumi.Input<number>;
}

/**
 * Waits in a provider cluster until a consumer's Tenant is accepted, and reads the credentials that it got. A refresh takes over renewed ones.
 */
export class IdentityCredentials extends LiqoResource {
  /** What the consumer needs to reach the provider, as in `Identity.spec.authParams`; secret. */
  declare readonly authParams: pulumi.Output<AuthParams>;
  /** Where the consumer's objects live in the provider, as in `Identity.spec.namespace`. */
  declare readonly tenantNamespace: pulumi.Output<string>;

  constructor(name: string, args: IdentityCredentialsArgs, options?: pulumi.CustomResourceOptions) {
    super(
      "identityCredentials",
      name,
      { authParams: undefined, tenantNamespace: undefined, ...withSecretKubeconfig(args) },
      options,
      ["authParams"],
    );
  }
}
