import { type KubeObject, Label } from "../../api";
import { keyOf } from "../../kube";

/**
 * The peer that an object is about.
 *
 * @throws Error where it does not say
 */
export function peerOf(object: KubeObject): string {
  const peer = object.metadata.labels?.[Label.remoteClusterID];
  if (peer) return peer;
  throw new Error(
    `${object.kind} ${keyOf(object)} has no label ${Label.remoteClusterID}; set it to the peer's cluster ID`,
  );
}
