import type * as pulumi from "@pulumi/pulumi";
import { z } from "zod";

import { ConfigMap, DataKey, Name, Namespace } from "../runtime/api";
import type { KubeClient } from "../runtime/kube";
import { networkHints } from "../runtime/plan/networking/network-hints";
import { clusterFacts } from "./cluster-facts";
import {
  type ClusterArgs,
  clusterIDInput,
  clusterInputs,
  inCluster,
  lookMs,
  nameInput,
  withSecretKubeconfig,
} from "./core/cluster-access";
import type { InputFault, ProviderContext } from "./core/definition";
import { resourceFunctions } from "./core/lifecycle";
import { LiqoResource } from "./core/liqo-resource";
import { waitForObject } from "./core/object-wait";

const inputs = z.object({
  ...clusterInputs,
  podCidrs: z
    .array(z.string())
    .default([])
    .describe("The pod networks that the installation is given; none where it has no networking."),
  apiServerGiven: z
    .boolean()
    .default(false)
    .describe("Whether the installation is given the address of the API server for its peers."),
  clusterId: clusterIDInput
    .optional()
    .describe("ID of the cluster, as the installation is given it. It stays as long as the installation."),
  namespace: nameInput.optional().describe("The Liqo namespace. It stays as long as the installation."),
});
type Inputs = z.output<typeof inputs>;

/** Every cluster has it, from its beginning to its end. */
const OLDEST = "kube-system";

/**
 * A look at a cluster before anything is put there. What tells clusters apart is the UID of their oldest namespace: an ID that the user gives can be
 * given another one, and a kubeconfig that leads to another cluster would leave all objects behind, unseen.
 */
export const preflight = resourceFunctions({
  type: "Preflight",
  summary:
    "Looks at a cluster before an installation is put there or changed: refuses a kubeconfig that leads to another cluster than before, and another cluster ID or namespace than the installation has, and tells what of its networks, its CNI and its nodes will be in the way.",
  inputs,
  computed: z.object({
    cluster: z.string().describe(`Tells clusters apart: UID of the namespace ${OLDEST}.`),
  }),
  secrets: [],
  secretInputs: ["kubeconfig"],
  replaceOn: [],
  validateChange: identityFaults,

  async create(news, context) {
    return { id: "cluster", computed: { cluster: await look(news, context) } };
  },
  read: (_id, state, context) =>
    inCluster(state, context, async (client) => {
      const cluster = await identityOf(client, context);
      // Another cluster answers at this address: the installation is gone, and so is this resource.
      return state.cluster === undefined || state.cluster === cluster ? { cluster } : undefined;
    }),
  update: async (_id, olds, news, context) => ({ cluster: await look(news, context, olds) }),
});

/** @param olds what the state has: the cluster that it has to be, and the ID where the state is not of before it was kept there */
function look(
  news: Inputs,
  context: ProviderContext,
  { cluster: expected, clusterId }: { cluster?: string | undefined; clusterId?: string | undefined } = {},
): Promise<string> {
  return inCluster(news, context, async (client) => {
    const cluster = await identityOf(client, context);
    if (expected !== undefined && cluster !== expected) {
      throw new Error(
        `the kubeconfig leads to another cluster than before, at ${client.server}: its namespace ${OLDEST} has UID ${cluster}, and the installation is where it has ${expected}. Give the kubeconfig, or the context, of that cluster; for another cluster make an Installation of another name with a cluster ID of its own. If the first one was made anew, run "pulumi refresh" with its old kubeconfig, or "pulumi state delete" for what was in it`,
      );
    }
    if (clusterId === undefined) await refuseAnother(client, news, context);
    await tellHints(client, news, context);
    return cluster;
  });
}

/** An API server creates the namespace within seconds of its start. */
const FIRST_MOMENTS_S = 30;

function identityOf(client: KubeClient, context: ProviderContext): Promise<string> {
  return waitForObject(
    {
      client,
      kind: Namespace,
      kindName: "Namespace",
      ref: { name: OLDEST },
      timeoutSeconds: FIRST_MOMENTS_S,
      what: "the cluster's first namespace",
      nextStep: "see that its API server is ready",
      judge: (namespace) =>
        namespace?.metadata.uid === undefined
          ? { is: "open", seen: "does not exist" }
          : { is: "met", value: namespace.metadata.uid },
    },
    context,
  );
}

const NO_ADDRESS =
  "no node has the label of a control-plane node, as on managed clusters, so that no peer can be told where the API server is; give the Installation apiServer: { address: … } before others offload to this cluster";

/** A hint that cannot be computed is no failure. */
async function tellHints(
  client: KubeClient,
  { podCidrs, apiServerGiven }: Inputs,
  context: ProviderContext,
): Promise<void> {
  try {
    const facts = await clusterFacts(client, context.signal);
    const hints = networkHints(facts, podCidrs);
    if (!apiServerGiven && !facts.hasControlPlaneNode) hints.push(NO_ADDRESS);
    for (const line of hints) context.progress(`${client.server}: ${line}`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    context.progress(`${client.server}: it could not be looked at: ${reason}`);
  }
}

/** What an installation has from its first day to its last; absent where it is not known. */
export interface InstalledIdentity {
  clusterId?: string | undefined;
  namespace?: string | undefined;
}

const WAY_OUT =
  "remove the peerings and then the installation (take them out of the program, and run pulumi up), and install it anew";

/**
 * What is wrong with a changed identity. Peers know a cluster by its ID, and another namespace is another installation: either change would take
 * the live control plane away under its peerings.
 */
export function identityFaults(olds: InstalledIdentity, news: InstalledIdentity): InputFault[] {
  return [
    ...fault("clusterId", olds.clusterId, news.clusterId, "its peers know the cluster by it"),
    ...fault("namespace", olds.namespace, news.namespace, "its control plane and its state are there"),
  ];
}

function fault(
  property: keyof InstalledIdentity,
  has: string | undefined,
  wanted: string | undefined,
  because: string,
): InputFault[] {
  if (has === undefined || wanted === undefined || has === wanted) return [];
  const reason = `is "${wanted}", but the installation has "${has}", and ${because}. Nothing was changed. Put "${has}" back; or, for "${wanted}", ${WAY_OUT}`;
  return [{ property, reason }];
}

/**
 * Refuses another cluster ID than that of the installation in the namespace, for states that do not tell it. Other namespaces are not asked: what
 * stands there may be anybody's.
 *
 * @throws Error that names the installation that is there
 */
export async function refuseAnother(
  client: KubeClient,
  { clusterId, namespace }: InstalledIdentity,
  { signal }: ProviderContext,
): Promise<void> {
  if (clusterId === undefined || namespace === undefined) return;
  const ref = { name: Name.clusterIDConfigMap, namespace };
  const has = (await client.get(ConfigMap, ref, { signal, deadlineMs: lookMs }))?.data?.[DataKey.clusterID];
  const [found] = identityFaults({ clusterId: has }, { clusterId });
  if (found === undefined) return;
  throw new Error(
    `clusterId ${found.reason} (ConfigMap ${namespace}/${ref.name} at ${client.server} has the ID)`,
  );
}

export interface PreflightArgs extends ClusterArgs {
  /** The pod networks that the installation is given; none where it has no networking. */
  podCidrs?: pulumi.Input<pulumi.Input<string>[]>;
  /** Whether the installation is given the address of the API server for its peers; false by default. */
  apiServerGiven?: pulumi.Input<boolean>;
  /** ID of the cluster, as the installation is given it. It stays as long as the installation. */
  clusterId?: pulumi.Input<string>;
  /** The Liqo namespace. It stays as long as the installation. */
  namespace?: pulumi.Input<string>;
}

/**
 * Looks at a cluster before an installation is put there or changed: all of the installation must depend on it.
 */
export class Preflight extends LiqoResource {
  /** Tells clusters apart. */
  declare readonly cluster: pulumi.Output<string>;

  constructor(name: string, args: PreflightArgs, options?: pulumi.CustomResourceOptions) {
    super("preflight", name, { cluster: undefined, ...withSecretKubeconfig(args) }, options);
  }
}
