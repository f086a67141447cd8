import type * as pulumi from "@pulumi/pulumi";
import { z } from "zod";

import { DataKey, Name, Secret } from "../runtime/api";
import {
  type ClusterArgs,
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

const inputs = z.object({
  ...clusterInputs,
  namespace: nameInput.describe("The consumer's tenant namespace in the provider."),
  name: nameInput
    .default(Name.nonceSecret)
    .describe(`Name of the nonce Secret; \`${Name.nonceSecret}\` by default.`),
  timeoutSeconds: timeoutInput(120),
});
type Inputs = z.output<typeof inputs>;

/** Second step of the handshake: what the provider wants signed (control plane reference 5). */
export const nonceRead = resourceFunctions({
  type: "NonceRead",
  summary: "Waits in a provider cluster until the nonce for a consumer is there, and reads it.",
  inputs,
  computed: z.object({ nonce: z.string().describe("The nonce's text, to be signed by the consumer.") }),
  secrets: ["nonce"],
  secretInputs: ["kubeconfig"],
  replaceOn: ["namespace", "name"],

  ...createdByWait(objectId, wait),
  read: (_id, state, context) =>
    inCluster(state, context, async (client) => {
      const { name, namespace } = state;
      const secret = await client.get(
        Secret,
        { name, namespace },
        { signal: context.signal, deadlineMs: lookMs },
      );
      return nonceIn(secret);
    }),
});

function wait(inputs: Inputs, context: ProviderContext): Promise<{ nonce: string }> {
  const { name, namespace, timeoutSeconds } = inputs;
  return inCluster(inputs, context, (client) =>
    waitForObject(
      {
        client,
        kind: Secret,
        kindName: "Secret",
        ref: { name, namespace },
        timeoutSeconds,
        what: `a nonce in data.${DataKey.nonce}`,
        nextStep: `see that Liqo's controller manager runs in the provider, and that namespace ${namespace} has the labels of a tenant namespace`,
        judge(secret) {
          const found = nonceIn(secret);
          if (found !== undefined) return { is: "met", value: found };
          return {
            is: "open",
            seen: secret === undefined ? "does not exist" : `data.${DataKey.nonce} is empty`,
          };
        },
      },
      context,
    ),
  );
}

function nonceIn(secret: Secret | undefined): { nonce: string } | undefined {
  const nonce = secretText(secret, DataKey.nonce);
  return nonce === undefined ? undefined : { nonce };
}

/** An entry of a Secret, decoded; undefined when it is absent or empty. */
export function secretBytes(secret: Secret | undefined, key: string): Buffer | undefined {
  const encoded = secret?.data?.[key];
  return encoded === undefined || encoded === "" ? undefined : Buffer.from(encoded, "base64");
}

/** An entry of a Secret as text; undefined when it is absent or empty. */
export function secretText(secret: Secret | undefined, key: string): string | undefined {
  return secretBytes(secret, key)?.toString("utf8");
}

export interface NonceReadArgs extends ClusterArgs {
  /** The consumer's tenant namespace in the provider. */
  namespace: pulumi.Input<string>;
  /** Name of the nonce Secret; `liqo-nonce` by default. */
  name?: pulumi.Input<string>;
  /** Longest time to wait, in seconds; 120 by default. */
  timeoutSeconds?: pulumi.Input<number>;
}

/** Waits in a provider cluster until the nonce for a consumer is there, and reads it. */
export class NonceRead extends LiqoResource {
  /** The nonce's text, to be signed by the consumer; secret. */
  declare readonly nonce: pulumi.Output<string>;

  constructor(name: string, args: NonceReadArgs, options?: pulumi.CustomResourceOptions) {
    super("nonceRead", name, { nonce: undefined, ...withSecretKubeconfig(args) }, options, ["nonce"]);
  }
}
