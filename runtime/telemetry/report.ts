import { type ForeignCluster, type Namespace, type NamespaceOffloading, type Node, Label } from "../api";
import { parseLatency } from "../networking/connection-status";

/** What is reported, read at one moment. */
export interface TelemetryFacts {
  /** A random UUID that says nothing about the cluster. */
  clusterID: string;
  liqoVersion: string;
  kubernetesVersion: string;
  /** Of the cloud, as the cluster's labels name it; empty where they do not. */
  provider: string;
  /** Of this cluster; virtual ones are left out. */
  nodes: readonly Node[];
  foreignClusters: readonly ForeignCluster[];
  /** By the peer's cluster ID. */
  peers: ReadonlyMap<string, PeerCounts>;
  offloadings: readonly NamespaceOffloading[];
  namespaces: readonly Namespace[];
  /** Pods on virtual nodes: their namespace and the peer that runs them. */
  offloadedPods: readonly { namespace: string; clusterID: string }[];
}

export interface PeerCounts {
  /** As its Connection has it, such as `12ms`. */
  latency?: string;
  nodes: number;
  virtualNodes: number;
  resourceSlices: number;
}

/** The report, field by field as upstream's (control plane reference 16.3). */
export interface TelemetryReport {
  clusterID: string;
  liqoVersion: string;
  kubernetesVersion: string;
  nodesInfo: Record<string, { kernelVersion: string; osImage: string; architecture: string }>;
  provider: string;
  peeringInfo: {
    remoteClusterID: string;
    modules: Record<"networking" | "authentication" | "offloading", { enabled: boolean }>;
    role: string;
    /** Nanoseconds; 0 where it is not known. */
    latency: number;
    nodesNumber: number;
    virtualNodesNumber: number;
    resourceSliceNumber: number;
  }[];
  namespacesInfo: {
    uid: string;
    mappingStrategy: string;
    offloadingStrategy: string;
    hasClusterSelector: boolean;
    numOffloadedPods: Record<string, number>;
  }[];
}

/** Makes the report. No name of a namespace, pod or image is in it. */
export function telemetryReport(facts: TelemetryFacts): TelemetryReport {
  const { clusterID, liqoVersion, kubernetesVersion, provider } = facts;
  return {
    clusterID,
    liqoVersion,
    kubernetesVersion,
    nodesInfo: Object.fromEntries(facts.nodes.filter(isReal).map(nodeInfo)),
    provider,
    peeringInfo: facts.foreignClusters.map((peer) => peeringInfo(peer, facts.peers.get(peer.spec.clusterID))),
    namespacesInfo: facts.offloadings.map((offloading) => namespaceInfo(offloading, facts)),
  };
}

function isReal({ metadata }: Node): boolean {
  return metadata.labels?.[Label.nodeType] === undefined;
}

function nodeInfo({ metadata, status }: Node): [string, TelemetryReport["nodesInfo"][string]] {
  const { kernelVersion = "", osImage = "", architecture = "" } = status?.nodeInfo ?? {};
  return [metadata.name, { kernelVersion, osImage, architecture }];
}

function peeringInfo(
  { spec, status }: ForeignCluster,
  counts: PeerCounts | undefined,
): TelemetryReport["peeringInfo"][number] {
  const enabled = (module: "networking" | "authentication" | "offloading") => ({
    enabled: status?.modules?.[module].enabled === true,
  });
  return {
    remoteClusterID: spec.clusterID,
    modules: {
      networking: enabled("networking"),
      authentication: enabled("authentication"),
      offloading: enabled("offloading"),
    },
    role: status?.role ?? "Unknown",
    latency: Math.round((parseLatency(counts?.latency ?? "") ?? 0) * 1_000_000),
    nodesNumber: counts?.nodes ?? 0,
    virtualNodesNumber: counts?.virtualNodes ?? 0,
    resourceSliceNumber: counts?.resourceSlices ?? 0,
  };
}

function namespaceInfo(
  { metadata, spec }: NamespaceOffloading,
  { namespaces, offloadedPods }: TelemetryFacts,
): TelemetryReport["namespacesInfo"][number] {
  const namespace = namespaces.find(({ metadata: { name } }) => name === metadata.namespace);
  const pods: Record<string, number> = {};
  for (const pod of offloadedPods) {
    if (pod.namespace === metadata.namespace) pods[pod.clusterID] = (pods[pod.clusterID] ?? 0) + 1;
  }
  return {
    uid: namespace?.metadata.uid ?? "",
    mappingStrategy: spec.namespaceMappingStrategy ?? "DefaultName",
    offloadingStrategy: spec.podOffloadingStrategy ?? "LocalAndRemote",
    hasClusterSelector: (spec.clusterSelector?.nodeSelectorTerms ?? []).length > 0,
    numOffloadedPods: pods,
  };
}
