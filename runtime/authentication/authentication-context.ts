import type { KubeObject } from "../api";
import { Label } from "../api";
import type { RuntimeContext } from "../kube";
import type { AuthenticationCaches } from "./caches";
import type { AuthenticationOptions } from "./options";

/** What each of the authentication controllers is given. */
export interface AuthenticationContext {
  runtime: RuntimeContext;
  options: AuthenticationOptions;
  caches: AuthenticationCaches;
}

/** Wall clocks jump and timers have a longest time: whatever is far away is looked at again at the latest after this long. */
const longestWaitMs = 60 * 60_000;

/** The outcome of a reconcile that is to come again after some time, if any. */
export function recheck(afterMs: number | undefined): { requeueAfterMs: number } | undefined {
  return afterMs === undefined
    ? undefined
    : { requeueAfterMs: Math.min(Math.max(afterMs, 0), longestWaitMs) };
}

/** The peer that an object is labelled with. */
export function labelledPeer(object: KubeObject): string | undefined {
  return object.metadata.labels?.[Label.remoteClusterID];
}
