import { EventReason, type KubeObject, Label } from "../../api";
import { keyOf, Terminal } from "../../kube";

/**
 * The peer that an object is about.
 *
 * @throws Terminal where it does not say
 */
export function peerOf(object: KubeObject): string {
  const peer = object.metadata.labels?.[Label.remoteClusterID];
  if (peer) return peer;
  throw new Terminal(
    EventReason.missingClusterID,
    `${object.kind} ${keyOf(object)} has no label ${Label.remoteClusterID}; set it to the peer's cluster ID`,
  );
}
