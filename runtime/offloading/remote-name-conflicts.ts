import type { NamespaceMap } from "../api";

/** A NamespaceOffloading, as far as it competes for a remote name. */
export interface Claimant {
  namespace: string;
  /** RFC 3339, as in its metadata. */
  createdAt: string;
}

/** Another NamespaceOffloading whose remote namespace would have the same name. */
export interface CompetingClaimant extends Claimant {
  /** It is there to stay, and selects the cluster that is asked about. */
  wanted: boolean;
}

/**
 * The other local namespace that has a remote name at one cluster, or is to have it; undefined where the claimant may. Two that shared
 * a remote namespace would delete each other's objects there as leftovers.
 *
 * An entry that is there keeps the name, until the provider has taken its namespace back; else, and among entries that share a name
 * already, the older NamespaceOffloading does, then the first by name.
 */
export function holderOf(
  claimant: Claimant,
  remoteName: string,
  map: NamespaceMap,
  competing: readonly CompetingClaimant[],
): string | undefined {
  const desired = map.spec.desiredMapping ?? {};
  const others = Object.keys(desired)
    .filter((namespace) => namespace !== claimant.namespace && desired[namespace] === remoteName)
    .sort();
  const before = competing
    .filter((competitor) => competitor.wanted && order(competitor, claimant) < 0)
    .sort(order);
  if (desired[claimant.namespace] === remoteName)
    return before.find(({ namespace }) => others.includes(namespace))?.namespace;
  return others[0] ?? leaving(claimant, remoteName, map)[0] ?? before[0]?.namespace;
}

/** Namespaces that the provider still holds under a name. */
function leaving({ namespace: own }: Claimant, remoteName: string, { status }: NamespaceMap): string[] {
  return Object.entries(status?.currentMapping ?? {})
    .filter(
      ([namespace, { remoteNamespace, phase }]) =>
        namespace !== own && remoteNamespace === remoteName && phase !== "CreationLoopBackOff",
    )
    .map(([namespace]) => namespace)
    .sort();
}

function order(a: Claimant, b: Claimant): number {
  const age = Date.parse(a.createdAt) - Date.parse(b.createdAt);
  if (age !== 0 && !Number.isNaN(age)) return age;
  return a.namespace < b.namespace ? -1 : 1;
}
