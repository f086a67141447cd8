import type { Pod } from "../api";
import { controllerOf } from "../kube";
import { creatorOf, hasEnded, isManaged } from "./booked-pods";

/** That the pod of a ShadowPod which is gone may be there. */
export interface Claim {
  /** Uid of the ShadowPod; empty for a pod that was found without one. */
  shadow: string;
  creator: string;
  /** The pod was there, so that it is gone for good when it is not. */
  seen: boolean;
  /** Uid of the pod, once it was asked for. */
  pod?: string;
}

export interface ObservedClaims {
  claims: readonly Claim[];
  /** Those that there were when the API server was asked. */
  before: readonly Claim[];
  /** What has the name at the API server. */
  pod: Pod | undefined;
  /** Of the ShadowPod of that name. */
  liveUid: string | undefined;
}

/** Whether a pod of a ShadowPod is there, runs, and its ShadowPod does not count for it. */
export function isLeft(pod: Pod, liveUid: string | undefined): boolean {
  if (!isManaged(pod) || hasEnded(pod.status?.phase)) return false;
  return liveUid === undefined || controllerOf(pod)?.uid !== liveUid;
}

/** The claims on one name that stay when it is known which pod has it: of all that there are, a name has one pod. */
export function settled({ claims, before, pod, liveUid }: ObservedClaims): Claim[] {
  const later = claims.filter((claim) => !before.includes(claim));
  const asked = claims.filter((claim) => before.includes(claim));
  const owner = controllerOf(pod)?.uid;
  // A controller whose watch lags may still make one that was never seen. The survey that follows finds it.
  if (pod === undefined || !isManaged(pod) || hasEnded(pod.status?.phase)) return later;
  // While the name is taken, no other pod comes.
  if (!isLeft(pod, liveUid)) return later;
  const found = { seen: true, pod: pod.metadata.uid ?? "" };
  // One that was left without an owner belongs to the first that went.
  const whose = (claim: Claim) => owner === undefined || claim.shadow === owner;
  const theirs = asked.find(whose) ?? later.find(whose);
  if (theirs !== undefined) return [{ ...theirs, ...found }, ...later.filter((claim) => claim !== theirs)];
  return [{ shadow: owner ?? "", creator: creatorOf(pod), ...found }, ...later];
}
