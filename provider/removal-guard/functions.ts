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
} from "../../runtime/api";
import { isNotFound, type KubeClient } from "../../runtime/kube";
import { clusterInputs, inCluster, lookMs, nameInput, timeoutInput } from "../cluster-inputs";
import type { ProviderContext } from "../resource-definition";
import { resourceFunctions } from "../resource-functions";
import { waitForObject } from "../waiting/object-wait";

const inputs = z.object({
  ...clusterInputs,
  namespace: nameInput.describe("The Liqo namespace."),
  timeoutSeconds: timeoutInput(60),
});

/** What stands in the way of a removal, and what to do about each kind (control plane reference 17.5). */
const blockers: readonly { kind: Kind<KubeObject>; advice: string }[] = [
  { kind: NamespaceOffloading, advice: "take the namespaces back" },
  { kind: ResourceSlice, advice: "remove the peerings, at the consumer" },
  { kind: VirtualNode, advice: "remove the virtual nodes" },
  { kind: Identity, advice: "remove the peerings, at the consumer" },
  { kind: Tenant, advice: "remove the peerings, at the provider" },
  { kind: Configuration, advice: "disconnect the networks" },
  { kind: GatewayServer, advice: "disconnect the networks" },
  { kind: GatewayClient, advice: "disconnect the networks" },
  { kind: IP, advice: "delete them" },
  { kind: Network, advice: "delete them" },
];

/** Named at most, of each kind: an error text is for reading. */
const NAMED = 5;

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

  create: (news) => Promise.resolve({ id: news.namespace, computed: {} }),
  read: () => Promise.resolve({}),
  update: () => Promise.resolve({}),
  delete: (_id, state, context) =>
    inCluster(state, context, async (client) => {
      const found = await Promise.all(
        blockers.map(async ({ kind, advice }) => sentence(kind, await names(client, kind, context), advice)),
      );
      const inTheWay = found.filter((text) => text !== undefined);
      if (inTheWay.length > 0) {
        throw new Error(
          `the installation in namespace ${state.namespace} at ${client.server} is still in use: ${inTheWay.join("; ")}; then remove it`,
        );
      }
      await removeForeignClusters(client, state.timeoutSeconds, context);
    }),
});

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

/** Came with the installation, and goes with it: no finalizer holds it (networking reference 3). */
function isPreinstalled({ metadata }: KubeObject): boolean {
  return isOn(metadata.annotations?.[Annotation.preinstalled]);
}

async function listIfServed<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  { signal }: ProviderContext,
): Promise<T[]> {
  try {
    return await client.list(kind, {}, { signal, deadlineMs: lookMs });
  } catch (error) {
    if (isNotFound(error)) return []; // its definition is gone already
    throw error;
  }
}

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
