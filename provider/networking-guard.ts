import type * as pulumi from "@pulumi/pulumi";
import { z } from "zod";

import { type ClusterArgs, clusterInputs, inCluster, withSecretKubeconfig } from "./core/cluster-access";
import type { ProviderContext } from "./core/definition";
import { resourceFunctions } from "./core/lifecycle";
import { LiqoResource } from "./core/liqo-resource";
import { inTheWay, NETWORKING_BLOCKERS } from "./removal-guard";

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

export interface NetworkingGuardArgs extends ClusterArgs {
  /** Whether the installation has networking. */
  networking: pulumi.Input<boolean>;
}

/**
 * Refuses to take networking out of an installation whose networks are connected to others: the controllers' Deployments must depend on it.
 */
export class NetworkingGuard extends LiqoResource {
  constructor(name: string, args: NetworkingGuardArgs, options?: pulumi.CustomResourceOptions) {
    super("networkingGuard", name, withSecretKubeconfig(args), options);
  }
}
