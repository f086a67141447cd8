import { Label } from "../api/keys";
import type { Namespace } from "../api/kubernetes";

/**
 * Whether what is in a namespace may say anything of a peer. Not in the tenant namespace of another one, nor in a namespace that was made for a
 * consumer: whoever may write there is a stranger to that peer. A namespace that names no peer is this cluster's own.
 *
 * @param namespace with its labels; undefined where it names no peer
 */
export function maySpeakOf(namespace: Namespace | undefined, clusterId: string): boolean {
  const labels = namespace?.metadata.labels ?? {};
  const peer = labels[Label.remoteClusterID];
  if (peer === undefined) return true;
  return labels[Label.tenantNamespace] !== undefined && peer === clusterId;
}
