import { EventReason, type KubeObject, Label } from "../api";
import { labelledPeer } from "./authentication-context";
import { describeLookup, type TenantNamespaces } from "./tenant-namespaces";

/** Why an object is not taken care of: the reason of an event, and what to do. */
export interface PlacementFault {
  reason: string;
  message: string;
}

/**
 * Whether an object names a peer and is in that peer's tenant namespace; undefined where all is well.
 *
 * @param missingPeer the event's reason for an object that names no peer
 */
export function checkPlacement(
  object: KubeObject,
  tenantNamespaces: TenantNamespaces,
  missingPeer: string,
): PlacementFault | undefined {
  const peer = labelledPeer(object);
  if (peer === undefined || peer === "") {
    return {
      reason: missingPeer,
      message: `label ${Label.remoteClusterID} is missing; give it the peer's cluster ID`,
    };
  }
  const lookup = tenantNamespaces.of(peer);
  if (lookup.outcome !== "found") {
    return { reason: EventReason.tenantNamespaceNotFound, message: describeLookup(lookup, peer) };
  }
  if (lookup.name !== object.metadata.namespace) {
    return {
      reason: EventReason.wrongNamespace,
      message: `namespace "${object.metadata.namespace ?? ""}" is not the tenant namespace of cluster "${peer}", which is "${lookup.name}"; create the object there`,
    };
  }
  return undefined;
}
