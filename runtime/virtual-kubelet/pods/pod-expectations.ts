import type { PodStatus } from "kubernetes-types/core/v1";

import type { RestartMemory } from "./pod-status";

/**
 * What is remembered of one pod beyond the caches: what we wrote and they do not show yet, and what cannot be read from any object. All of it may be
 * lost at any time; it saves requests, nothing depends on it.
 */
export interface PodMemory {
  restarts?: RestartMemory;
  /** The ShadowPod that we created and have not seen. */
  created?: { uid: string; version: string; sourceUid: string; at: number };
  /** UID of the ShadowPod whose deletion we asked for. */
  deleted?: string;
  /** UID of the local pod that we ended. */
  ended?: string;
  /** Since when the pod has waited for its own tokens in place of an earlier pod's, on the monotonic clock. */
  tokensDueSince?: number;
  /** Since when the provider has refused the pod, on the monotonic clock. */
  refusedSince?: number;
  /** Since when a change of status that nobody waits for is held back. */
  heldSince?: number;
  /** The address of which it was told that it is withheld. */
  withheld?: string;
  /** When it may be written that the pod has started, on the monotonic clock. */
  startDueAt?: number;
  /** The status that we wrote, and the version of the local pod that it was computed from. */
  written?: { version: string | undefined; status: PodStatus };
}

/** How long a ShadowPod that we created may stay unseen before it is taken for gone, whatever the watch says, in milliseconds. */
export const UNSEEN_MS = 120_000;
