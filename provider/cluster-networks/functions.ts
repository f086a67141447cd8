import { z } from "zod";

import { Label, Name, Network } from "../../runtime/api";
import type { KubeClient } from "../../runtime/kube";
import { clusterInputs, inCluster, lookMs, nameInput, recorded, timeoutInput } from "../cluster-inputs";
import type { ProviderContext } from "../resource-definition";
import { resourceFunctions } from "../resource-functions";
import { waitForObject } from "../waiting/object-wait";

const inputs = z.object({
  ...clusterInputs,
  liqoNamespace: nameInput
    .default(Name.liqoNamespace)
    .describe(`Namespace of the control plane; \`${Name.liqoNamespace}\` by default.`),
  timeoutSeconds: timeoutInput(120),
});
type Inputs = z.output<typeof inputs>;

interface Networks {
  podCidrs: string[];
  externalCidr: string;
}

/** What a peer is told of a cluster's networks (networking reference 1, 16). */
export const clusterNetworks = resourceFunctions({
  type: "ClusterNetworks",
  summary:
    "Waits until a cluster has given its own networks their ranges, and reads those that peers are told.",
  inputs,
  computed: z.object({
    podCidrs: z.array(z.string()).describe("Networks of the cluster's pods."),
    externalCidr: z.string().describe("Network by which peers know what is no pod."),
  }),
  secrets: [],
  secretInputs: ["kubeconfig"],
  replaceOn: ["liqoNamespace"],

  async create(news, context) {
    return {
      id: news.liqoNamespace,
      computed: await recorded(news.liqoNamespace, () => wait(news, context)),
    };
  },
  read: (_id, state, context) =>
    inCluster(state, context, async (client) => {
      const limits = { signal: context.signal, deadlineMs: lookMs };
      const external = await client.get(Network, externalOf(state.liqoNamespace), limits);
      return external?.status?.cidr ? await told(client, external.status.cidr, limits) : undefined;
    }),
  update: (id, _olds, news, context) => recorded(id, () => wait(news, context)),
});

function externalOf(namespace: string) {
  return { name: Name.externalCIDRNetwork, namespace };
}

function wait(inputs: Inputs, context: ProviderContext): Promise<Networks> {
  const { liqoNamespace, timeoutSeconds } = inputs;
  return inCluster(inputs, context, async (client) => {
    const externalCidr = await waitForObject(
      {
        client,
        kind: Network,
        kindName: "Network",
        ref: externalOf(liqoNamespace),
        timeoutSeconds,
        what: "the range of the cluster's external network",
        nextStep: `give the cluster's Installation the argument networking; the networks are in namespace ${liqoNamespace}, and its controller manager says in their events what is wrong with them`,
        judge: (network) =>
          network?.status?.cidr
            ? { is: "met", value: network.status.cidr }
            : { is: "open", seen: network === undefined ? "does not exist" : "status.cidr is empty" },
      },
      context,
    );
    return await told(client, externalCidr, { signal: context.signal, deadlineMs: lookMs });
  });
}

async function told(
  client: KubeClient,
  externalCidr: string,
  limits: { signal: AbortSignal; deadlineMs: number },
): Promise<Networks> {
  const pods = await client.list(Network, { labelSelector: `${Label.networkType}=pod-cidr` }, limits);
  // They are what they are, before any controller says so.
  return { podCidrs: pods.map(({ spec, status }) => status?.cidr ?? spec.cidr).sort(), externalCidr };
}
