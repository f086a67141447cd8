import type { PodStatus } from "kubernetes-types/core/v1";

/** What is remembered about the remote incarnations of one local pod. */
export interface RestartMemory {
  /** The local incarnation that the memory is about; another one starts from zero. */
  localUid: string;
  remoteUid: string;
  /** Restarts to add to what the remote pod counts. */
  offset: number;
}

interface LocalView {
  uid: string;
  status: PodStatus | undefined;
}

interface RemoteView {
  uid: string;
  status: PodStatus | undefined;
}

/**
 * The number of restarts to add to the remote counts: each remote pod that replaced another counts as one. At first sight, as after a start of
 * this process, it is what the local pod already shows beyond the remote count of its first container (offloading reference 11.7).
 */
export function rememberRestarts(
  memory: RestartMemory | undefined,
  local: LocalView,
  remote: RemoteView,
): RestartMemory {
  if (memory?.localUid !== local.uid) {
    return { localUid: local.uid, remoteUid: remote.uid, offset: firstOffset(local.status, remote.status) };
  }
  if (memory.remoteUid === remote.uid) return memory;
  return { localUid: local.uid, remoteUid: remote.uid, offset: memory.offset + 1 };
}

function firstOffset(local: PodStatus | undefined, remote: PodStatus | undefined): number {
  const shown = local?.containerStatuses?.[0];
  if (shown === undefined) return 0;
  const counted = remote?.containerStatuses?.find(({ name }) => name === shown.name);
  return Math.max(0, shown.restartCount - (counted?.restartCount ?? 0));
}
