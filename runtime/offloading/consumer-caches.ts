import {
  ForeignCluster,
  Label,
  LabelValue,
  Namespace,
  NamespaceMap,
  NamespaceOffloading,
  Node,
  VirtualNode,
} from "../api";
import { isDeclaredDead } from "../foreign-cluster/conditions";
import type { Informer, InformerSet, SourceEvent } from "../kube";

/** By the cluster at the other end. */
export const BY_CLUSTER = "cluster";
/** By the bare name, which of a VirtualNode is its Node's. */
export const BY_NAME = "name";

/** What the consumer's controllers watch, each once. */
export class ConsumerCaches {
  readonly offloadings: Informer<NamespaceOffloading>;
  readonly virtualNodes: Informer<VirtualNode>;
  readonly namespaceMaps: Informer<NamespaceMap>;
  readonly foreignClusters: Informer<ForeignCluster>;
  /** Nodes that stand for a peer. */
  readonly nodes: Informer<Node>;
  readonly tenantNamespaces: Informer<Namespace>;
  /** Namespaces whose pods the webhook looks at. */
  readonly schedulingNamespaces: Informer<Namespace>;

  constructor(informers: InformerSet) {
    this.offloadings = informers.informer(NamespaceOffloading);
    this.virtualNodes = informers.informer(VirtualNode);
    this.virtualNodes.addIndex(BY_CLUSTER, ({ spec }) => [spec.clusterID ?? ""]);
    this.virtualNodes.addIndex(BY_NAME, ({ metadata }) => [metadata.name]);
    this.namespaceMaps = informers.informer(NamespaceMap);
    this.namespaceMaps.addIndex(BY_CLUSTER, (map) => {
      const cluster = clusterOfSource(map);
      return cluster === undefined ? [] : [cluster];
    });
    this.foreignClusters = informers.informer(ForeignCluster);
    this.foreignClusters.addIndex(BY_CLUSTER, ({ spec }) => [spec.clusterID]);
    this.nodes = informers.informer(Node, {
      labelSelector: `${Label.nodeType}=${LabelValue.virtualNode}`,
      project: relevantOfNode,
    });
    this.tenantNamespaces = informers.informer(Namespace, { labelSelector: Label.tenantNamespace });
    this.tenantNamespaces.addIndex(BY_CLUSTER, ({ metadata }) => [
      metadata.labels?.[Label.remoteClusterID] ?? "",
    ]);
    this.schedulingNamespaces = informers.informer(Namespace, {
      labelSelector: `${Label.schedulingEnabled}=${LabelValue.true}`,
    });
  }

  /** The map of what is offloaded to a cluster. Of several, the one named after the cluster: the others are nobody's. */
  namespaceMapOf(cluster: string): NamespaceMap | undefined {
    const maps = this.namespaceMaps.byIndex(BY_CLUSTER, cluster);
    return maps.find(({ metadata }) => metadata.name === cluster) ?? maps[0];
  }

  /** Whether nothing tells of a peer. */
  isUnknown(cluster: string): boolean {
    return this.foreignClusters.byIndex(BY_CLUSTER, cluster).length === 0;
  }

  /** Whether a peer is lost for good: nothing is left that knows of it, or an administrator has said so and it does not answer. */
  isDead(cluster: string): boolean {
    const known = this.foreignClusters.byIndex(BY_CLUSTER, cluster);
    return known.length === 0 || known.every(isDeclaredDead);
  }
}

/** The peer that one of our own maps is for; undefined for a copy of a peer's map (both exist where peers offload to each other). */
export function clusterOfSource({ metadata }: NamespaceMap): string | undefined {
  const labels = metadata.labels ?? {};
  const ours =
    labels[Label.replication] === LabelValue.true && labels[Label.replicationDestination] !== undefined;
  return ours ? labels[Label.remoteClusterID] : undefined;
}

/** For sources: a peer was declared dead, came back, or became unknown. */
export function deathChanged(event: SourceEvent<ForeignCluster>): boolean {
  return event.type !== "updated" || isDeclaredDead(event.before) !== isDeclaredDead(event.object);
}

/** Whether a node's kubelet says that it is ready. */
export function isReady({ status }: Node): boolean {
  return status?.conditions?.find(({ type }) => type === "Ready")?.status === "True";
}

/** Heartbeats change nothing of this, so that they wake nobody. */
function relevantOfNode({ apiVersion, kind, metadata, spec, status }: Node): Node {
  const { name, uid, resourceVersion, labels, deletionTimestamp } = metadata;
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  return {
    apiVersion,
    kind,
    metadata: { name, uid, resourceVersion, labels, deletionTimestamp },
    spec: { unschedulable: spec.unschedulable },
    status: { conditions: ready === undefined ? [] : [{ type: ready.type, status: ready.status }] },
  };
}
