import { isMocked, thisRun } from "./sdk-store";

/** Of each run, who connects the networks of which two clusters. */
const runs = new WeakMap<object, Map<string, string>>();

/**
 * Says that a component connects two clusters' networks. Two clusters have one tunnel, whoever is the consumer.
 *
 * @throws Error where another one of the program does
 */
export function connectPair(subject: string, clusterIds: readonly [string, string]): void {
  if (isMocked()) return; // one run of all tests
  const pairs = runs.get(thisRun()) ?? new Map<string, string>();
  runs.set(thisRun(), pairs);
  claimPair(pairs, subject, clusterIds);
}

/** @param pairs who connects which pair so far */
export function claimPair(
  pairs: Map<string, string>,
  subject: string,
  clusterIds: readonly [string, string],
): void {
  const pair = clusterIds.toSorted().join(" and ");
  const other = pairs.get(pair);
  if (other !== undefined && other !== subject) {
    throw new Error(
      `${subject}: the networks of ${pair} are connected by ${other} already, and two clusters have one tunnel. Make a NetworkPeering of its own for it and give each Peering of the two "networking: { enabled: false }", so that each can go alone; or make one Peering with "bidirectional: true"`,
    );
  }
  pairs.set(pair, subject);
}
