import {
  Annotation,
  Finalizer,
  Label,
  LabelValue,
  Namespace,
  NamespaceMap,
  ResourceSlice,
  type Tenant,
} from "../api";
import { hasFinalizer, isDeleting, isNotFound } from "../kube";
import type { AuthenticationContext } from "./context";

/** Marks or unmarks all slices of a consumer as cordoned with their Tenant (control plane reference 9.2). */
export async function cordonSlices(
  authentication: AuthenticationContext,
  consumer: string,
  cordoned: boolean,
): Promise<void> {
  const wanted = cordoned ? LabelValue.true : undefined;
  for (const slice of copies(authentication, consumer)) {
    const { uid, annotations } = slice.metadata;
    if (isDeleting(slice) || annotations?.[Annotation.cordonTenant] === wanted) continue;
    const patch = { metadata: { uid, annotations: { [Annotation.cordonTenant]: wanted ?? null } } };
    try {
      await authentication.runtime.client.patch(ResourceSlice, slice.metadata, patch, { type: "merge" });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

/** @returns how many slices of the consumer it deleted */
export async function deleteSlices(authentication: AuthenticationContext, consumer: string): Promise<number> {
  const { client } = authentication.runtime;
  const present = copies(authentication, consumer).filter((slice) => !isDeleting(slice));
  for (const { metadata } of present) await client.delete(ResourceSlice, metadata, { uid: metadata.uid });
  return present.length;
}

/**
 * Deletes the consumer's maps, and with them the offloaded namespaces. The consumer writes the labels and finalizers of its maps, so the tenant
 * namespace alone tells which maps are its own. A map may also have been deleted without its namespaces, so these are deleted by themselves.
 *
 * @returns how many maps it deleted
 */
export async function deleteNamespaceMaps(
  authentication: AuthenticationContext,
  tenant: Tenant,
  consumer: string,
): Promise<number> {
  const { runtime, caches } = authentication;
  // The label of the namespace may have been removed; the Tenant is in it all the same.
  const tenantNamespaces = [...caches.tenantNamespaces.namesOf(consumer), tenant.metadata.namespace ?? ""];
  const maps = caches.namespaceMaps
    .list()
    .filter(({ metadata }) => tenantNamespaces.includes(metadata.namespace ?? ""))
    .filter((map) => !isDeleting(map) && !isOwnMap(map, consumer));
  for (const { metadata } of maps) await runtime.client.delete(NamespaceMap, metadata, { uid: metadata.uid });
  await deleteOffloadedNamespaces(authentication, tenantNamespaces);
  return maps.length;
}

async function deleteOffloadedNamespaces(
  { runtime, options }: AuthenticationContext,
  tenantNamespaces: readonly string[],
): Promise<void> {
  // Without offloading there are none, nor the right to delete them.
  if (!options.offloadingEnabled) return;
  const offloaded = await runtime.client.list(Namespace, { labelSelector: Label.remoteClusterID });
  for (const namespace of offloaded) {
    const { name, uid, annotations } = namespace.metadata;
    const [tenantNamespace = "", map] = annotations?.[Annotation.managedByNamespaceMap]?.split("/") ?? [];
    if (map === undefined || !tenantNamespaces.includes(tenantNamespace) || isDeleting(namespace)) continue;
    await runtime.client.delete(Namespace, { name }, { uid });
  }
}

/** The consumer's slices, as its replicator copied them here. */
function copies({ caches }: AuthenticationContext, consumer: string): ResourceSlice[] {
  return caches
    .ofPeer(caches.slices, consumer)
    .filter(({ metadata }) => metadata.labels?.[Label.replicated] === LabelValue.true);
}

/**
 * Whether a map in a tenant namespace is the one that this cluster, a consumer itself, keeps for that peer as its provider. A map with any mark of a
 * peer's is not.
 */
export function isOwnMap(map: NamespaceMap, peer: string): boolean {
  const { name, labels } = map.metadata;
  return (
    name === peer &&
    labels?.[Label.replication] === LabelValue.true &&
    labels[Label.replicationDestination] === peer &&
    labels[Label.replicated] !== LabelValue.true &&
    !hasFinalizer(map, Finalizer.namespaceMap)
  );
}
