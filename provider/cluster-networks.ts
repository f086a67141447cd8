import type * as pulumi from "@pulumi/pulumi";
import { z } from "zod";

import { Annotation, Label, Name, Network } from "../runtime/api";
import type { KubeClient } from "../runtime/kube";
import {
  type ClusterArgs,
  clusterInputs,
  inCluster,
  lookMs,
  nameInput,
  timeoutInput,
  triggersInput,
  withSecretKubeconfig,
} from "./core/cluster-access";
import type { ProviderContext } from "./core/definition";
import { resourceFunctions } from "./core/lifecycle";
import { LiqoResource } from "./core/liqo-resource";
import { createdByWait, waitForObject } from "./core/object-wait";
import { gatewayEnd, sameEnd } from "./gateway-read";

const inputs = z.object({
  ...clusterInputs,
  liqoNamespace: nameInput
    .default(Name.liqoNamespace)
    .describe(`Namespace of the control plane; \`${Name.liqoNamespace}\` by default.`),
  installedPodCidrs: z
    .array(z.string())
    .optional()
    .describe(
      "Pod networks of the cluster's installation; another one of its making is about to be removed. By default whatever is there counts.",
    ),
  gateway: gatewayEnd
    .optional()
    .describe("Which end of the tunnel to the peer the cluster has; it stays as long as the tunnel."),
  triggers: triggersInput,
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
  // Checked here because a network peering starts with this resource: no object of the other end exists yet.
  validateChange: (olds, news) => sameEnd("gateway", olds.gateway, news.gateway),

  ...createdByWait(({ liqoNamespace }) => liqoNamespace, wait),
  read: (_id, state, context) =>
    inCluster(state, context, async (client) => {
      const limits = { signal: context.signal, deadlineMs: lookMs };
      const external = await client.get(Network, externalOf(state.liqoNamespace), limits);
      if (!external?.status?.cidr) return undefined;
      return { podCidrs: await podCidrsOf(client, state, limits), externalCidr: external.status.cidr };
    }),
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
    const limits = { signal: context.signal, deadlineMs: lookMs };
    return { podCidrs: await podCidrsOf(client, inputs, limits), externalCidr };
  });
}

/** Pod networks keep their range in their own cluster, so they are known before a controller has set their status. */
async function podCidrsOf(
  client: KubeClient,
  { installedPodCidrs }: Pick<Inputs, "installedPodCidrs">,
  limits: { signal: AbortSignal; deadlineMs: number },
): Promise<string[]> {
  const pods = await client.list(Network, { labelSelector: `${Label.networkType}=pod-cidr` }, limits);
  return podCidrsThatStay(pods, installedPodCidrs);
}

/**
 * The pod networks that a peer is told. A run removes what the program no longer has as its last step: until then a network of the installation is
 * there that no peer should know.
 *
 * @param installed those that the installation has; undefined where nobody tells
 */
export function podCidrsThatStay(networks: readonly Network[], installed?: readonly string[]): string[] {
  return networks
    .filter(
      ({ metadata, spec }) =>
        installed === undefined ||
        installed.includes(spec.cidr) ||
        metadata.annotations?.[Annotation.preinstalled] === undefined,
    )
    .map(({ spec, status }) => status?.cidr ?? spec.cidr)
    .sort();
}

export interface ClusterNetworksArgs extends ClusterArgs {
  /** Namespace of the control plane; `liqo` by default. */
  liqoNamespace?: pulumi.Input<string>;
  /** Pod networks of the cluster's installation; another one of its making is about to be removed. By default whatever is there counts. */
  installedPodCidrs?: pulumi.Input<pulumi.Input<string>[] | undefined>;
  /** Which end of the tunnel to the peer the cluster has; it stays as long as the tunnel. */
  gateway?: pulumi.Input<"GatewayServer" | "GatewayClient">;
  /** Arbitrary values: when one changes, look again. */
  triggers?: pulumi.Input<Record<string, pulumi.Input<string>> | undefined>;
  /** Longest time to wait, in seconds; 120 by default. */
  timeoutSeconds?: pulumi.Input<number>;
}

/** Waits until a cluster has given its own networks their ranges, and reads those that peers are told. */
export class ClusterNetworks extends LiqoResource {
  /** Networks of the cluster's pods. */
  declare readonly podCidrs: pulumi.Output<string[]>;
  /** Network by which peers know what is no pod. */
  declare readonly externalCidr: pulumi.Output<string>;

  constructor(name: string, args: ClusterNetworksArgs, options?: pulumi.CustomResourceOptions) {
    super(
      "clusterNetworks",
      name,
      { podCidrs: undefined, externalCidr: undefined, ...withSecretKubeconfig(args) },
      options,
    );
  }
}
