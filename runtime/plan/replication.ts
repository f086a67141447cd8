import { Label, LabelValue } from "../api/keys";
import type { KubeObject } from "../api/meta";

/** How replicated objects and their copies are told apart: by labels that peers of other make set and read too (control plane reference 11.3). */

/** Selects all copies that come from a cluster. */
export function copySelector(localClusterId: string): string {
  return `${Label.replicationOrigin}=${localClusterId},${Label.replicated}=${LabelValue.true}`;
}

/** Whether an object asks to be copied to a peer. */
export function isSource(object: KubeObject, remoteClusterId?: string): boolean {
  const labels = object.metadata.labels ?? {};
  const destination = labels[Label.replicationDestination];
  return (
    labels[Label.replication] === LabelValue.true &&
    destination !== undefined &&
    (remoteClusterId === undefined || destination === remoteClusterId)
  );
}

/** Whether an object is a copy that a peer made here. */
export function isCopy(object: KubeObject): boolean {
  const labels = object.metadata.labels ?? {};
  return labels[Label.replicated] === LabelValue.true && labels[Label.replicationOrigin] !== undefined;
}
