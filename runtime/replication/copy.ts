import { Label, LabelValue, type DesiredMeta, type KubeObject } from "../api";

/** An object of a replicated kind, seen as what is copied: the spec towards the peer, the status back. */
export interface Replicable extends KubeObject {
  spec: unknown;
  status?: unknown;
}

/** Which clusters a copy connects. */
export interface Route {
  /** Cluster ID of the source's side. */
  localClusterId: string;
  /** Cluster ID of the copy's side. */
  remoteClusterId: string;
  /** Where the copies are at the peer. */
  remoteNamespace: string;
}

/**
 * Metadata of the copy of a source (control plane reference 11.4): the source's labels and annotations plus where it comes from; no
 * owners, no finalizers. Peers select on exactly these labels.
 */
export function copyMetadata(source: Replicable, route: Route): DesiredMeta {
  const { [Label.replicationOwnership]: _ownership, ...labels } = source.metadata.labels ?? {};
  return {
    name: source.metadata.name,
    namespace: route.remoteNamespace,
    labels: {
      ...labels,
      [Label.replication]: LabelValue.false,
      [Label.replicated]: LabelValue.true,
      [Label.replicationOrigin]: route.localClusterId,
      [Label.remoteClusterID]: route.localClusterId,
    },
    ...(source.metadata.annotations === undefined ? {} : { annotations: { ...source.metadata.annotations } }),
  };
}
