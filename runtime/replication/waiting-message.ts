import type { Replicable } from "./copy";

/** How many objects a message names. */
const NAMED = 5;

/**
 * What the deletion of a peer's control-plane Secret waits for, and the way out; undefined where it is under way by itself.
 *
 * @param sources what is left of the objects that are copied to the peer
 * @param silent whether the peer is known not to answer
 */
export function waitingMessage(
  clusterId: string,
  sources: readonly Replicable[],
  silent: boolean,
): string | undefined {
  const staying = sources.filter(({ metadata }) => !metadata.deletionTimestamp);
  if (staying.length > 0)
    return `is being deleted, and kept for as long as objects are copied to cluster "${clusterId}" by it: ${listed(staying)}; delete them to end the peering ("liqoctl unpeer" does), or make the Identity, or another such Secret, to go on`;
  if (!silent) return undefined;
  const left = sources.length > 0 ? ` of ${listed(sources)}` : "";
  return `is being deleted, and kept until the copies${left} at cluster "${clusterId}" are gone, which does not answer; it goes on by itself when it does; for a cluster that is gone for good there is "liqoctl force unpeer"`;
}

function listed(objects: readonly Replicable[]): string {
  const names = objects
    .map(({ kind, metadata }) => `${kind} "${metadata.namespace}/${metadata.name}"`)
    .sort();
  const more = names.length - NAMED;
  return `${names.slice(0, NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
