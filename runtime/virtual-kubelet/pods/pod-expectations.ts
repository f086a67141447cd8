import type { PodStatus } from "kubernetes-types/core/v1";

import type { ShadowPod } from "../../api";
import type { Clock, Informer } from "../../kube";
import type { RestartMemory } from "./pod-status";

/**
 * What is known of one pod beyond the caches: our own writes that they do not show yet, and what no object holds. All of it may be lost at any time: it
 * saves requests, and nothing depends on it.
 */
export interface PodExpectations {
  restarts?: RestartMemory;
  /** The ShadowPod that we created and that the cache has not shown. */
  created?: { uid: string; version: string; sourceUid: string; at: number };
  /** UID of the ShadowPod that we deleted. */
  deleted?: string;
  /** UID of the local pod that we deleted. */
  ended?: string;
  /** Since when the pod has waited for its own tokens in place of an earlier pod's, on the monotonic clock. */
  tokensDueSince?: number;
  /** Since when the provider has refused the pod, on the monotonic clock. */
  refusedSince?: number;
  /** Since when a change of status that nobody waits for is held back, on the monotonic clock. */
  heldSince?: number;
  /** The withheld address that the last event named. */
  withheld?: string;
  /** When it may be written that the pod has started, on the monotonic clock. */
  startDueAt?: number;
  /** The status that we wrote, and the version of the local pod that it was computed from. */
  written?: { version: string | undefined; status: PodStatus };
}

/** How long a ShadowPod that we created may stay unseen before it counts as gone, whatever the watch says, in milliseconds. */
export const UNSEEN_MS = 120_000;

/** The expectations about all pods of a virtual node, by key. */
export class PodExpectationsByKey {
  private readonly byKey = new Map<string, PodExpectations>();

  constructor(private readonly clock: Clock) {}

  /** Empty for a pod that was not met before; {@link keep} has it remembered. */
  of(key: string): PodExpectations {
    return this.byKey.get(key) ?? {};
  }

  /** Keeps nothing of a pod that is gone on both sides. */
  keep(key: string, isLocal: boolean, expected: PodExpectations): void {
    const kept = isLocal || expected.created !== undefined || expected.deleted !== undefined;
    if (kept) this.byKey.set(key, expected);
    else this.byKey.delete(key);
  }

  /** Drops the writes that the cache shows, and a creation that it has passed without showing the object: that one does not exist any more. */
  observe(
    expected: PodExpectations,
    shadow: ShadowPod | undefined,
    shadowPods: Pick<Informer<ShadowPod>, "hasReached">,
  ): void {
    const { created } = expected;
    const isGone =
      created !== undefined &&
      (shadowPods.hasReached(created.version) || this.clock.monotonic() - created.at > UNSEEN_MS);
    if (shadow !== undefined || isGone) delete expected.created;
    if (expected.deleted !== undefined && expected.deleted !== (shadow?.metadata.uid ?? created?.uid)) {
      delete expected.deleted;
    }
  }
}

/** What was done in an earlier remote namespace is not expected in another one. */
export function forgetRemoteWrites(expected: PodExpectations): void {
  delete expected.created;
  delete expected.deleted;
}
