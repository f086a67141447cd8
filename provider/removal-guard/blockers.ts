import {
  Annotation,
  Configuration,
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
import { isNotFound, type KubeClient, type ListOptions } from "../../runtime/kube";
import { lookMs } from "../cluster-inputs";
import type { ProviderContext } from "../resource-definition";

/** A kind whose objects stand in the way of a removal, and what to do about them (control plane reference 17.5). */
export interface Blocker {
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
export const BLOCKERS: readonly Blocker[] = [
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

/** Came with the installation, and goes with it: no finalizer holds it (networking reference 3). */
function isPreinstalled({ metadata }: KubeObject): boolean {
  return isOn(metadata.annotations?.[Annotation.preinstalled]);
}

/** The objects of a kind; none where it is not defined. */
export async function listIfServed<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  { signal }: ProviderContext,
  selection: ListOptions = {},
): Promise<T[]> {
  try {
    return await client.list(kind, selection, { signal, deadlineMs: lookMs });
  } catch (error) {
    if (isNotFound(error)) return []; // its definition is gone already
    throw error;
  }
}
