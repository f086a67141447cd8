import { ConditionReason } from "../api/keys";
import type { NamespaceMap, NamespaceOffloading } from "../api/offloading";

/**
 * The names at a provider that this cluster asks for one of its namespaces; none where it does not ask.
 *
 * What a provider may write (the status of a map), and what it may write where it is a consumer here as well (the map as a whole), asks for
 * nothing: a NamespaceOffloading in the namespace itself must stand behind it. Its conditions say which clusters it selects. While they do not
 * mention the cluster yet, its entry in the map counts. Where they do, the name that was worked out counts beside the entry: an edit of the map
 * by hand is put back a moment later.
 *
 * @param offloading of the namespace; undefined where it has none
 * @see offloading reference 4.1 and 4.2: the consumer decides the name
 */
export function askedNames(
  map: NamespaceMap,
  namespace: string,
  offloading: NamespaceOffloading | undefined,
): string[] {
  if (offloading === undefined || offloading.metadata.deletionTimestamp) return [];
  const { remoteNamespacesConditions, remoteNamespaceName } = offloading.status ?? {};
  const conditions = ownEntry(remoteNamespacesConditions, map.metadata.name) ?? [];
  const required = conditions.find(({ type }) => type === "OffloadingRequired")?.status;
  const gaveWay = conditions.some(
    ({ type, reason }) => type === "Ready" && reason === ConditionReason.remoteNamespaceTaken,
  );
  if (required === "False" || gaveWay) return [];
  const mapped = ownEntry(map.spec.desiredMapping, namespace);
  const workedOut = required === "True" ? remoteNamespaceName : undefined;
  return [...new Set([mapped, workedOut])].flatMap((name) => (name ? [name] : []));
}

/** The entry of a map that peers may write to: `constructor` is a name for a namespace, and no entry by itself. */
export function ownEntry<V>(entries: Readonly<Record<string, V>> | undefined, key: string): V | undefined {
  return entries !== undefined && Object.hasOwn(entries, key) ? entries[key] : undefined;
}
