import type * as pulumi from "@pulumi/pulumi";
import { z } from "zod";

import {
  Annotation,
  Configuration,
  ForeignCluster,
  GatewayClient,
  GatewayServer,
  Identity,
  IP,
  isOn,
  type Kind,
  type KubeObject,
  NamespaceOffloading,
  Network,
  ResourceSlice,
  Tenant,
  VirtualNode,
} from "../runtime/api";
import type { KubeClient } from "../runtime/kube";
import {
  type ClusterArgs,
  clusterInputs,
  inCluster,
  listIfServed,
  lookMs,
  nameInput,
  timeoutInput,
  withSecretKubeconfig,
} from "./core/cluster-access";
import type { ProviderContext } from "./core/definition";
import { resourceFunctions } from "./core/lifecycle";
import { LiqoResource } from "./core/liqo-resource";
import { waitForObject } from "./core/object-wait";
import { identityFaults } from "./preflight";

const inputs = z.object({
  ...clusterInputs,
  namespace: nameInput.describe("The Liqo namespace."),
  timeoutSeconds: timeoutInput(60),
});

/**
 * Holds the order of a removal: objects first, while the controllers that own their finalizers still run, then the controllers, then the
 * definitions. It makes nothing; its deletion refuses while peerings or offloaded namespaces exist, and takes away what the controllers
 * made and never remove, the ForeignClusters.
 */
export const removalGuard = resourceFunctions({
  type: "RemovalGuard",
  summary:
    "Refuses the removal of an installation that has peerings or offloaded namespaces, and removes what its controllers leave behind while they still run.",
  inputs,
  computed: z.object({}),
  secrets: [],
  secretInputs: ["kubeconfig"],
  replaceOn: ["namespace"],
  // States written before the Preflight had this input have it here.
  validateChange: ({ namespace: had }, { namespace }) => identityFaults({ namespace: had }, { namespace }),

  create: (news) => Promise.resolve({ id: news.namespace, computed: {} }),
  read: () => Promise.resolve({}),
  update: () => Promise.resolve({}),
  delete: (_id, state, context) =>
    inCluster(state, context, async (client) => {
      const found = await inTheWay(client, BLOCKERS, context);
      if (found !== undefined) {
        throw new Error(
          `the installation in namespace ${state.namespace} at ${client.server} is still in use: ${found}; then remove it`,
        );
      }
      await removeForeignClusters(client, state.timeoutSeconds, context);
    }),
});

async function removeForeignClusters(
  client: KubeClient,
  timeoutSeconds: number,
  context: ProviderContext,
): Promise<void> {
  const foreignClusters = await listIfServed(client, ForeignCluster, context);
  await Promise.all(
    foreignClusters.map(async ({ metadata: { name, uid } }) => {
      const limits = { signal: context.signal, deadlineMs: lookMs };
      await client.delete(ForeignCluster, { name }, { ...limits, ...(uid !== undefined && { uid }) });
      await waitForObject(
        {
          client,
          kind: ForeignCluster,
          kindName: "ForeignCluster",
          ref: { name },
          timeoutSeconds,
          what: "its absence",
          nextStep: "see that the controller manager runs, which removes its finalizer",
          judge: (object) =>
            object === undefined
              ? { is: "met", value: undefined }
              : { is: "open", seen: `held by ${object.metadata.finalizers?.join(", ") || "no finalizer"}` },
        },
        context,
      );
    }),
  );
}

/** A kind whose objects stand in the way of a removal, and what to do about them (control plane reference 17.5). */
interface Blocker {
  kind: Kind<KubeObject>;
  advice: string;
}

/** What needs the networking's controllers: they alone remove its finalizers. */
export const NETWORKING_BLOCKERS: readonly Blocker[] = [
  { kind: Configuration, advice: "disconnect the networks" },
  { kind: GatewayServer, advice: "disconnect the networks" },
  { kind: GatewayClient, advice: "disconnect the networks" },
  { kind: IP, advice: "delete them" },
  { kind: Network, advice: "delete them" },
];

/** What needs an installation. */
const BLOCKERS: readonly Blocker[] = [
  { kind: NamespaceOffloading, advice: "take the namespaces back" },
  { kind: ResourceSlice, advice: "remove the peerings, at the consumer" },
  { kind: VirtualNode, advice: "remove the virtual nodes" },
  { kind: Identity, advice: "remove the peerings, at the consumer" },
  { kind: Tenant, advice: "remove the peerings, at the provider" },
  ...NETWORKING_BLOCKERS,
];

/** Named at most, of each kind: an error text is for reading. */
const NAMED = 5;

/** What is in the way, in words, with the way out; undefined where nothing is. */
export async function inTheWay(
  client: KubeClient,
  blockers: readonly Blocker[],
  context: ProviderContext,
): Promise<string | undefined> {
  const found = await Promise.all(
    blockers.map(async ({ kind, advice }) => sentence(kind, await names(client, kind, context), advice)),
  );
  const sentences = found.filter((text) => text !== undefined);
  return sentences.length === 0 ? undefined : sentences.join("; ");
}

function sentence(kind: Kind<KubeObject>, found: readonly string[], advice: string): string | undefined {
  if (found.length === 0) return undefined;
  const more = found.length > NAMED ? ` and ${found.length - NAMED} more` : "";
  return `${kind.kind} ${found.slice(0, NAMED).join(", ")}${more} (${advice})`;
}

async function names(
  client: KubeClient,
  kind: Kind<KubeObject>,
  context: ProviderContext,
): Promise<string[]> {
  const objects = await listIfServed(client, kind, context);
  return objects
    .filter((object) => !isPreinstalled(object))
    .map(({ metadata: { name, namespace } }) => `${namespace}/${name}`);
}

/** It came with the installation and goes with it: no finalizer holds it (networking reference 3). */
function isPreinstalled({ metadata }: KubeObject): boolean {
  return isOn(metadata.annotations?.[Annotation.preinstalled]);
}

export interface RemovalGuardArgs extends ClusterArgs {
  /** The Liqo namespace. */
  namespace: pulumi.Input<string>;
  /** Longest time to wait for what is removed, in seconds; 60 by default. */
  timeoutSeconds?: pulumi.Input<number>;
}

/**
 * Refuses the removal of an installation that has peerings or offloaded namespaces, and removes what its controllers leave behind while they
 * still run: it must depend on the controllers' Deployments.
 */
export class RemovalGuard extends LiqoResource {
  constructor(name: string, args: RemovalGuardArgs, options?: pulumi.CustomResourceOptions) {
    super("removalGuard", name, withSecretKubeconfig(args), options);
  }
}
