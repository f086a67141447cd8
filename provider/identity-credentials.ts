import type * as pulumi from "@pulumi/pulumi";
import { z } from "zod";

import { Tenant } from "../runtime/api/authentication";
import { authParams as authParamsSchema } from "../runtime/api/authentication";
import { type AuthParams } from "../runtime/api";

import {
  CertificateError,
  parseCertificate,
  parseCertificateRequest,
  publicKeyDer,
} from "../runtime/identity";
import {
  type ClusterArgs,
  clusterInputs,
  inCluster,
  lookMs,
  nameInput,
  objectId,
  timeoutInput,
  triggersInput,
  withSecretKubeconfig,
} from "./core/cluster-access";
import type { ProviderContext } from "./core/definition";
import { staleStatus } from "./core/expectation";
import { resourceFunctions } from "./core/lifecycle";
import { LiqoResource } from "./core/liqo-resource";
import { createdByWait, waitForObject } from "./core/object-wait";

const inputs = z.object({
  ...clusterInputs,
  namespace: nameInput.describe("The consumer's tenant namespace in the provider."),
  name: nameInput.describe("Name of the consumer's Tenant, by convention its cluster ID."),
  csr: z
    .string()
    .min(1)
    .optional()
    .describe(
      "The request that the certificate must answer, base64 of PEM; any certificate will do without it.",
    ),
  proxyUrl: z
    .string()
    .optional()
    .describe("The proxy that the credentials must go through, empty for none; any will do without it."),
  apiServer: z
    .string()
    .optional()
    .describe("URL of the API server that the credentials must be for; any will do without it."),
  triggers: triggersInput,
  timeoutSeconds: timeoutInput(120),
});
type Inputs = z.output<typeof inputs>;

const computed = z.object({
  authParams: authParamsSchema().describe(
    "What the consumer needs to reach the provider, as in `Identity.spec.authParams`.",
  ),
  tenantNamespace: z
    .string()
    .describe("Where the consumer's objects live in the provider, as in `Identity.spec.namespace`."),
});
type Computed = z.output<typeof computed>;

/** Sixth step of the handshake: what the provider gives to the consumer (control plane reference 5). */
export const identityCredentials = resourceFunctions({
  type: "IdentityCredentials",
  summary:
    "Waits in a provider cluster until a consumer's Tenant is accepted, and reads the credentials that it got. A refresh takes over renewed ones.",
  inputs,
  computed,
  secrets: ["authParams"],
  secretInputs: ["kubeconfig"],
  replaceOn: ["namespace", "name"],

  ...createdByWait(objectId, wait),
  read: (_id, state, context) =>
    inCluster(state, context, async (client) => {
      const { name, namespace } = state;
      const tenant = await client.get(
        Tenant,
        { name, namespace },
        { signal: context.signal, deadlineMs: lookMs },
      );
      // A refresh reports what is there. The next run compares it with the program.
      const judged = judge(tenant, { csr: state.csr });
      return typeof judged === "string" ? undefined : judged;
    }),
});

function wait(inputs: Inputs, context: ProviderContext): Promise<Computed> {
  const { name, namespace, timeoutSeconds } = inputs;
  return inCluster(inputs, context, (client) =>
    waitForObject(
      {
        client,
        kind: Tenant,
        kindName: "Tenant",
        ref: { name, namespace },
        timeoutSeconds,
        what: "credentials in status.authParams",
        nextStep: `see the Tenant's events with "kubectl describe tenant ${name} -n ${namespace}" in the provider, and that Liqo's controller manager runs there`,
        judge(tenant) {
          const judged = (tenant && staleStatus(tenant)) ?? judge(tenant, inputs);
          return typeof judged === "string" ? { is: "open", seen: judged } : { is: "met", value: judged };
        },
      },
      context,
    ),
  );
}

/** The credentials, or what is still missing. IAM users have neither a certificate nor a proxy. */
export function judge(
  tenant: Tenant | undefined,
  { csr, proxyUrl, apiServer }: Pick<Inputs, "csr" | "proxyUrl" | "apiServer">,
): Computed | string {
  if (tenant === undefined) return "does not exist";
  const { authParams, tenantNamespace } = tenant.status ?? {};
  if (authParams === undefined) return "status.authParams is not set: the Tenant is not accepted yet";
  if (!tenantNamespace) return "status.tenantNamespace is not set";
  if (authParams.awsConfig === undefined) {
    if (!authParams.signedCRT) return "status.authParams.signedCRT is not set";
    if (csr !== undefined && !answers(authParams.signedCRT, csr)) {
      return "status.authParams.signedCRT is a certificate for another key";
    }
    const { proxyURL: proxy = "", apiServer: server = "" } = authParams;
    if (proxyUrl !== undefined && proxy !== proxyUrl)
      return `status.authParams.proxyURL is "${proxy}", and not "${proxyUrl}" yet`;
    if (apiServer !== undefined && server !== apiServer)
      return `status.authParams.apiServer is "${server}", and not "${apiServer}" yet`;
  }
  return { authParams: authParamsSchema().parse(authParams), tenantNamespace };
}

/** Whether a certificate is for the key of a request. Both are base64 of PEM. */
function answers(certificate: string, request: string): boolean {
  try {
    const { publicKey } = parseCertificate(Buffer.from(certificate, "base64"));
    const wanted = parseCertificateRequest(Buffer.from(request, "base64")).publicKey;
    return publicKeyDer(publicKey).equals(publicKeyDer(wanted));
  } catch (error) {
    if (error instanceof CertificateError) return false;
    throw error;
  }
}

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
