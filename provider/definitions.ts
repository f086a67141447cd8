import type * as pulumi from "@pulumi/pulumi";
import { z } from "zod";

import { CustomResourceDefinition } from "../runtime/api/kubernetes/cluster";
import { WellKnownLabel } from "../runtime/api/keys/labels";
import type { KubeClient } from "../runtime/kube";
import { MANAGED_BY } from "../runtime/plan/manifest";
import { definitions, DEFINITIONS_SELECTOR } from "../runtime/plan/installation";
import { clusterInputs, inCluster, lookMs, timeoutInput } from "./core/cluster-access";
import type { ProviderContext } from "./core/definition";
import { resourceFunctions } from "./core/lifecycle";
import { conditionsOf } from "./core/expectation";
import { waitForObject } from "./core/object-wait";

import { type ClusterArgs, withSecretKubeconfig } from "./core/cluster-access";

import { LiqoResource } from "./core/liqo-resource";
import { createdByWait } from "./core/object-wait";

const inputs = z.object({
  ...clusterInputs,
  digest: z
    .string()
    .min(1)
    .describe("Digest of the definitions, so that those of another version of the package are a change."),
  timeoutSeconds: timeoutInput(120),
});
type Inputs = z.output<typeof inputs>;

const ID = "definitions";
const FIELD_MANAGER = "pulumi-liqo";

/**
 * One resource for all definitions: as resources of their own they would put megabytes into the state, which is written again with every
 * step, and a definition that is replaced takes all objects of its kind with it.
 */
export const definitionsResource = resourceFunctions({
  type: "Definitions",
  summary:
    "The definitions (CRDs) of all kinds in a cluster, established. They are changed in place and never replaced; removing them removes the objects of these kinds.",
  inputs,
  computed: z.object({ names: z.array(z.string()).describe("Names of the definitions.") }),
  secrets: [],
  secretInputs: ["kubeconfig"],
  replaceOn: [],

  ...createdByWait(() => ID, establish),
  read: (_id, state, context) =>
    inCluster(state, context, async (client) => {
      const present = new Set((await ours(client, context)).map(({ metadata: { name } }) => name));
      const names = definitions().map(({ metadata: { name } }) => name);
      return names.every((name) => present.has(name)) ? { names } : undefined;
    }),
  delete: (_id, state, context) => inCluster(state, context, (client) => remove(client, state, context)),
});

function establish(news: Inputs, context: ProviderContext): Promise<{ names: string[] }> {
  // An API server that has just started is slow with so many new kinds.
  const limits = { signal: context.signal, deadlineMs: news.timeoutSeconds * 1000 };
  return inCluster(news, context, async (client) => {
    const wanted = definitions();
    const present = await client.list(CustomResourceDefinition, {}, limits);
    refuseForeign(wanted, present);
    await Promise.all(
      wanted.map((definition) =>
        client.apply(CustomResourceDefinition, definition, {
          ...limits,
          fieldManager: FIELD_MANAGER,
          force: true,
        }),
      ),
    );
    await Promise.all(
      wanted.map(({ metadata: { name } }) =>
        waitForObject(
          {
            ...about(client, name, news.timeoutSeconds),
            what: "condition Established",
            nextStep: `look with "kubectl describe crd ${name}" what the API server says of it`,
            judge: (object) =>
              conditionsOf(object).some(({ type, status }) => type === "Established" && status === "True")
                ? { is: "met", value: undefined }
                : { is: "open", seen: object === undefined ? "does not exist" : "is not established" },
          },
          quietly(context),
        ),
      ),
    );
    return { names: wanted.map(({ metadata: { name } }) => name) };
  });
}

/** Definitions of the same names that another installer made belong to an installation of Liqo, which ours would take over and break. */
function refuseForeign(
  wanted: readonly CustomResourceDefinition[],
  present: readonly CustomResourceDefinition[],
): void {
  const names = new Set(wanted.map(({ metadata: { name } }) => name));
  const foreign = present.filter(
    ({ metadata: { name, labels } }) =>
      names.has(name) && labels?.[WellKnownLabel.appManagedBy] !== MANAGED_BY,
  );
  const [first] = foreign;
  if (first === undefined) return;
  const by = first.metadata.labels?.[WellKnownLabel.appManagedBy] ?? "something else";
  throw new Error(
    `the definition ${first.metadata.name}${foreign.length > 1 ? ` and ${foreign.length - 1} more` : ""} in the cluster were made by ${by}: Liqo is installed there already; uninstall it, with its definitions, or leave this cluster as it is and only peer with it`,
  );
}

async function remove(client: KubeClient, state: Inputs, context: ProviderContext): Promise<void> {
  const limits = { signal: context.signal, deadlineMs: lookMs };
  const present = await ours(client, context);
  await Promise.all(
    present.map(async ({ metadata: { name, uid } }) => {
      await client.delete(
        CustomResourceDefinition,
        { name },
        { ...limits, ...(uid !== undefined && { uid }) },
      );
      await waitForObject(
        {
          ...about(client, name, state.timeoutSeconds),
          what: "its absence",
          nextStep: `look with "kubectl get ${name} -A" which objects are held by finalizers that nobody removes any more`,
          judge: (object) =>
            object === undefined
              ? { is: "met", value: undefined }
              : { is: "open", seen: "objects of its kind are being removed" },
        },
        quietly(context),
      );
    }),
  );
}

function ours(client: KubeClient, { signal }: ProviderContext): Promise<CustomResourceDefinition[]> {
  return client.list(
    CustomResourceDefinition,
    { labelSelector: DEFINITIONS_SELECTOR },
    { signal, deadlineMs: lookMs },
  );
}

/** A line for each of 28 definitions would say nothing. */
function quietly(context: ProviderContext): ProviderContext {
  return { ...context, progress: () => undefined };
}

function about(client: KubeClient, name: string, timeoutSeconds: number) {
  return {
    client,
    kind: CustomResourceDefinition,
    kindName: "CustomResourceDefinition",
    ref: { name },
    timeoutSeconds,
  };
}

export interface DefinitionsArgs extends ClusterArgs {
  /** Digest of the definitions, so that those of another version of the package are a change. */
  digest: pulumi.Input<string>;
  /** Longest time to wait for each, in seconds; 120 by default. */
  timeoutSeconds?: pulumi.Input<number>;
}

/**
 * The definitions (CRDs) of all kinds in a cluster, established. They are changed in place and never replaced; removing them removes the
 * objects of these kinds.
 */
export class Definitions extends LiqoResource {
  /** Names of the definitions. */
  declare readonly names: pulumi.Output<string[]>;

  constructor(name: string, args: DefinitionsArgs, options?: pulumi.CustomResourceOptions) {
    super("definitions", name, { names: undefined, ...withSecretKubeconfig(args) }, options);
  }
}
