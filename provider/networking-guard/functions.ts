import { z } from "zod";

import { clusterInputs, inCluster } from "../cluster-inputs";
import { inTheWay, NETWORKING_BLOCKERS } from "../removal-guard/blockers";
import type { ProviderContext } from "../resource-definition";
import { resourceFunctions } from "../resource-functions";

const inputs = z.object({
  ...clusterInputs,
  networking: z.boolean().describe("Whether the installation has networking."),
});
type Inputs = z.output<typeof inputs>;

/**
 * Holds the order in which networking is taken out of an installation: first the clusters are disconnected, while the controllers that own
 * the finalizers of Networks and IPs still run. It makes nothing.
 */
export const networkingGuard = resourceFunctions({
  type: "NetworkingGuard",
  summary:
    "Refuses to take networking out of an installation whose networks are connected to others, before its controllers are touched.",
  inputs,
  computed: z.object({}),
  secrets: [],
  secretInputs: ["kubeconfig"],
  replaceOn: [],

  async create(news, context) {
    await check(news, context);
    return { id: "networking", computed: {} };
  },
  read: () => Promise.resolve({}),
  async update(_id, _olds, news, context) {
    await check(news, context);
    return {};
  },
});

async function check(inputs: Inputs, context: ProviderContext): Promise<void> {
  if (inputs.networking) return;
  await inCluster(inputs, context, async (client) => {
    const found = await inTheWay(client, NETWORKING_BLOCKERS, context);
    if (found === undefined) return;
    throw new Error(
      `the networking of the installation at ${client.server} is still in use: ${found}; give the peerings "networking: { enabled: false }" or remove them, run once, and then take networking out of the installation`,
    );
  });
}
