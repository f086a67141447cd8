import type { NamespaceMap } from "../../api";
import { Label, LabelValue } from "../../api/keys";

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

/** The namespaces that a provider has accepted, remote by local name (offloading reference 9.1). */
export function acceptedNamespaces(map: NamespaceMap | undefined): ReadonlyMap<string, string> {
  const accepted = new Map<string, string>();
  for (const [local, { remoteNamespace, phase }] of Object.entries(map?.status?.currentMapping ?? {})) {
    if (phase === "Accepted" && remoteNamespace) accepted.set(local, remoteNamespace);
  }
  return accepted;
}

/** The map that the controllers make is named after the provider. */
function precedence({ metadata }: NamespaceMap, provider: string): number {
  return metadata.name === provider ? 0 : 1;
}
