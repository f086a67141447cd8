import { Label } from "../api/keys";
import type { Namespace } from "../api/kubernetes";

type Labels = Readonly<Record<string, string>>;

/** Whether a namespace with these labels is a tenant namespace (control plane reference 3.2). */
export function isTenantNamespace(labels: Labels): boolean {
  const mark = labels[Label.tenantNamespace];
  return mark !== undefined && mark !== "false";
}

/** The peer that a namespace with these labels is dedicated to; undefined where it is no tenant namespace, or one that says not whose. */
export function tenantOf(labels: Labels): string | undefined {
  return isTenantNamespace(labels) ? labels[Label.remoteClusterID] : undefined;
}

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
  return isTenantNamespace(labels) && peer === clusterId;
}
