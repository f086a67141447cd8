import { z } from "zod";

import { DataKey, Name, Secret } from "../../runtime/api";
import {
  clusterInputs,
  inCluster,
  lookMs,
  nameInput,
  objectId,
  recorded,
  timeoutInput,
} from "../cluster-inputs";
import type { ProviderContext } from "../resource-definition";
import { resourceFunctions } from "../resource-functions";
import { secretText } from "../secret-data";
import { waitForObject } from "../waiting/object-wait";

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

  async create(news, context) {
    const id = objectId(news);
    return { id, computed: await recorded(id, () => wait(news, context)) };
  },
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
  update: (id, _olds, news, context) => recorded(id, () => wait(news, context)),
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
