import * as pulumi from "@pulumi/pulumi";
import { z } from "zod";

import { DataKey, Name, Secret } from "../runtime/api";
import {
  checkCertificateRequest,
  controlPlaneSubject,
  createCertificateRequest,
  InvalidCertificateRequest,
  KeyError,
  publicKeyOf,
  verifyNonce,
} from "../runtime/identity";
import type { KubeClient } from "../runtime/kube";
import {
  type ClusterArgs,
  clusterIDInput,
  clusterInputs,
  inCluster,
  lookMs,
  nameInput,
  objectId,
  timeoutInput,
  withSecretKubeconfig,
} from "./core/cluster-access";
import type { ProviderContext } from "./core/definition";
import { resourceFunctions } from "./core/lifecycle";
import { LiqoResource } from "./core/liqo-resource";
import { createdByWait, waitForObject } from "./core/object-wait";
import { secretBytes, secretText } from "./nonce-read";

const inputs = z.object({
  ...clusterInputs,
  clusterID: clusterIDInput.describe("ID of the consumer."),
  liqoNamespace: nameInput
    .default(Name.liqoNamespace)
    .describe(`Liqo's namespace in the consumer; \`${Name.liqoNamespace}\` by default.`),
  namespace: nameInput.describe("The provider's tenant namespace in the consumer."),
  name: nameInput
    .default(Name.signedNonceSecret)
    .describe(`Name of the Secret with the signed nonce; \`${Name.signedNonceSecret}\` by default.`),
  nonce: z.string().min(1).describe("The nonce that must be signed."),
  timeoutSeconds: timeoutInput(120),
});
type Inputs = z.output<typeof inputs>;

const computed = z.object({
  publicKey: z.string().describe("The consumer's public key as in `Tenant.spec.publicKey`: base64 of PEM."),
  csr: z
    .string()
    .describe("The certificate request of its control plane as in `Tenant.spec.csr`: base64 of PEM."),
  signature: z.string().describe("The nonce's signature as in `Tenant.spec.signature`: base64."),
});
type Computed = z.output<typeof computed>;

/** Fourth step of the handshake: what the consumer shows to the provider (control plane reference 5). The private key stays in the cluster. */
export const tenantCredentials = resourceFunctions({
  type: "TenantCredentials",
  summary:
    "Waits in a consumer cluster until the nonce is signed, and makes what the provider's Tenant needs: public key, certificate request, signature.",
  inputs,
  computed,
  secrets: [],
  secretInputs: ["kubeconfig", "nonce"],
  replaceOn: ["clusterID", "namespace", "name"],

  ...createdByWait(objectId, wait),
  read: (_id, state, context) =>
    inCluster(state, context, async (client) => {
      const limits = { signal: context.signal, deadlineMs: lookMs };
      const keys = await client.get(
        Secret,
        { name: Name.clusterKeys, namespace: state.liqoNamespace },
        limits,
      );
      const signed = await client.get(Secret, { name: state.name, namespace: state.namespace }, limits);
      const privateKey = secretText(keys, DataKey.privateKey);
      if (privateKey === undefined) return undefined;
      const judged = judgeSignature(signed, state, privateKey);
      return typeof judged === "string" ? undefined : credentials(privateKey, judged, state);
    }),
});

function wait(inputs: Inputs, context: ProviderContext, olds: Partial<Computed>): Promise<Computed> {
  return inCluster(inputs, context, async (client) => {
    const start = context.now();
    const privateKey = await clusterKey(client, inputs, context);
    const spent = Math.ceil((context.now() - start) / 1000);
    return waitForObject(
      {
        client,
        kind: Secret,
        kindName: "Secret",
        ref: { name: inputs.name, namespace: inputs.namespace },
        timeoutSeconds: Math.max(1, inputs.timeoutSeconds - spent),
        what: `the signature in data.${DataKey.signedNonce}`,
        nextStep: `see that Liqo's controller manager runs in the consumer, and that namespace ${inputs.namespace} has the labels of a tenant namespace`,
        judge(signed) {
          const judged = judgeSignature(signed, inputs, privateKey);
          if (typeof judged === "string") return { is: "open", seen: judged };
          return { is: "met", value: credentials(privateKey, judged, { ...inputs, csr: olds.csr }) };
        },
      },
      context,
    );
  });
}

function clusterKey(client: KubeClient, inputs: Inputs, context: ProviderContext): Promise<string> {
  return waitForObject(
    {
      client,
      kind: Secret,
      kindName: "Secret",
      ref: { name: Name.clusterKeys, namespace: inputs.liqoNamespace },
      timeoutSeconds: inputs.timeoutSeconds,
      what: "the cluster's key pair",
      nextStep: `see that Liqo is installed in namespace ${inputs.liqoNamespace} of the consumer, or give another liqoNamespace`,
      judge(keys) {
        const privateKey = secretText(keys, DataKey.privateKey);
        if (privateKey !== undefined) return { is: "met", value: privateKey };
        return {
          is: "open",
          seen: keys === undefined ? "does not exist" : `data.${DataKey.privateKey} is empty`,
        };
      },
    },
    context,
  );
}

/** The signature, or what is still wrong with it. A signature of an earlier nonce or key is not taken. */
function judgeSignature(
  signed: Secret | undefined,
  inputs: { nonce: string },
  privateKey: string,
): Buffer | string {
  if (signed === undefined) return "does not exist";
  const signature = secretBytes(signed, DataKey.signedNonce);
  if (signature === undefined) return `data.${DataKey.signedNonce} is empty`;
  if (secretText(signed, DataKey.nonce) !== inputs.nonce)
    return `data.${DataKey.nonce} is another nonce than the provider's`;
  if (!verifyNonce(inputs.nonce, signature, publicKeyOf(privateKey))) {
    return `data.${DataKey.signedNonce} is not the nonce's signature by the cluster's key`;
  }
  return signature;
}

function credentials(
  privateKey: string,
  signature: Buffer,
  { clusterID, csr }: { clusterID: string; csr?: string | undefined },
): Computed {
  const subject = controlPlaneSubject(clusterID);
  const publicKey = publicKeyOf(privateKey);
  const request =
    keptRequest(csr, subject, publicKey) ?? base64(createCertificateRequest(subject, privateKey));
  return { publicKey: base64(publicKey), csr: request, signature: signature.toString("base64") };
}

/** The request made earlier, if it still fits: with an ECDSA key a new one would differ each time, and the provider refuses a change. */
function keptRequest(
  csr: string | undefined,
  subject: ReturnType<typeof controlPlaneSubject>,
  publicKey: string,
): string | undefined {
  if (csr === undefined) return undefined;
  try {
    checkCertificateRequest(Buffer.from(csr, "base64"), { subject, publicKey });
    return csr;
  } catch (error) {
    if (error instanceof InvalidCertificateRequest || error instanceof KeyError) return undefined;
    throw error;
  }
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

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
