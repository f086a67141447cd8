import { Label } from "../api";
import { isRecord } from "../api/invalid-object";
import { type AdmissionRequest, ALLOWED, denied, type Verdict } from "./admission-review";
import { frozenDifference } from "./shadow-pod-spec";

/**
 * Holds a ShadowPod to what it was created with: its origin, its creator, and of its spec all that a Pod keeps.
 *
 * @see offloading reference 16.4
 */
export function validateShadowPodUpdate({ object, oldObject }: AdmissionRequest): Verdict {
  if (object === undefined || oldObject === undefined) return ALLOWED;
  const origin = object.metadata.labels[Label.reflectionOrigin];
  if (origin === undefined) return denied("missing origin Cluster ID label");
  if (origin !== oldObject.metadata.labels[Label.reflectionOrigin])
    return denied("shadopow Cluster ID label is changed");
  const creator = oldObject.metadata.labels[Label.creatorUser];
  if (creator !== undefined && object.metadata.labels[Label.creatorUser] !== creator)
    return denied("creator name cannot be modified");
  const difference = frozenDifference(podOf(oldObject.raw), podOf(object.raw));
  if (difference === undefined) return ALLOWED;
  return denied(
    `${difference} cannot be modified: only images, activeDeadlineSeconds and tolerations of a ShadowPod may change`,
  );
}

/** `spec.pod` of a ShadowPod, as it came. */
export function podOf(shadowPod: Readonly<Record<string, unknown>>): unknown {
  return isRecord(shadowPod.spec) ? shadowPod.spec.pod : undefined;
}
