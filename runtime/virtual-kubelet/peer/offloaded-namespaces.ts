import type { NamespaceMap, NamespaceOffloading } from "../../api";
import { Label, LabelValue } from "../../api/keys";
import { askedNames, ownEntry } from "../../plan/peer-objects";

/** The NamespaceOffloading of a namespace; undefined where it has none. */
export type OffloadingOf = (namespace: string) => NamespaceOffloading | undefined;

/** Of the maps in a tenant namespace our own: with peerings in both directions the provider's map is there too. */
export function mapToProvider(maps: readonly NamespaceMap[], provider: string): NamespaceMap | undefined {
  const [ours] = maps
    .filter(({ metadata: { labels = {} } }) => {
      return labels[Label.remoteClusterID] === provider && labels[Label.replicated] !== LabelValue.true;
    })
    .sort(
      (a, b) =>
        precedence(a, provider) - precedence(b, provider) || (a.metadata.name < b.metadata.name ? -1 : 1),
    );
  return ours;
}

/**
 * The namespaces that a provider has accepted under the name that was asked for, remote by local name (offloading reference 9.1). Other entries of its
 * answer are ignored: the objects of an accepted namespace go to the provider, so it must not choose namespaces itself.
 */
export function acceptedNamespaces(
  map: NamespaceMap | undefined,
  offloadingOf: OffloadingOf,
): ReadonlyMap<string, string> {
  const accepted = new Map<string, string>();
  for (const local of Object.keys(map?.status?.currentMapping ?? {})) {
    const remote = acceptedName(map, local, offloadingOf(local));
    if (remote !== undefined) accepted.set(local, remote);
  }
  return accepted;
}

/** The same for one namespace; undefined where it is not offloaded. */
export function acceptedName(
  map: NamespaceMap | undefined,
  local: string,
  offloading: NamespaceOffloading | undefined,
): string | undefined {
  const answer = ownEntry(map?.status?.currentMapping, local);
  if (map === undefined || answer?.phase !== "Accepted" || !answer.remoteNamespace) return undefined;
  return askedNames(map, local, offloading).find((name) => name === answer.remoteNamespace);
}

/** The map that the controllers make is named after the provider. */
function precedence({ metadata }: NamespaceMap, provider: string): number {
  return metadata.name === provider ? 0 : 1;
}
