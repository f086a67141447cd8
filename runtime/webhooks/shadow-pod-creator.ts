import { Label } from "../api";
import { creatorUserLabel } from "../plan/peer-objects";
import {
  type AdmissionRequest,
  ALLOWED,
  denied,
  labelPatch,
  patched,
  type Verdict,
} from "./admission-review";

/**
 * Writes the creator's name on a ShadowPod: the key that its demand is booked under. On creation the caller's name, whatever the request
 * says; on updates the name that it was created with.
 *
 * The peer that a ShadowPod came from (the group named by its origin) may change only what it created itself. Users of the provider, among
 * them its administrators and the garbage collector, are not held to that: its RBAC decides about them.
 *
 * @see offloading reference 16.4
 */
export function stampCreator(request: AdmissionRequest): Verdict {
  const { operation, object, oldObject, username } = request;
  if (object === undefined) return ALLOWED;
  const caller = creatorUserLabel(username);
  if (operation === "CREATE") {
    return caller === undefined
      ? denied("missing creator name")
      : patched(labelPatch(object, Label.creatorUser, caller));
  }
  const creator = oldObject?.metadata.labels[Label.creatorUser];
  const fromPeer = isPeer(request);
  if (creator === undefined) return fromPeer ? denied("missing creator name") : ALLOWED;
  if (fromPeer && caller !== creator) return denied("creator name cannot be modified");
  const asked = object.metadata.labels[Label.creatorUser];
  if (!fromPeer && asked !== undefined && asked !== creator) return denied("creator name cannot be modified");
  return patched(labelPatch(object, Label.creatorUser, creator));
}

function isPeer({ oldObject, groups }: AdmissionRequest): boolean {
  const origin = oldObject?.metadata.labels[Label.reflectionOrigin];
  return origin !== undefined && groups.includes(origin);
}
