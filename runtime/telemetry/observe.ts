import {
  Connection,
  ForeignCluster,
  type KubeObject,
  Label,
  Namespace,
  NamespaceOffloading,
  Node,
  Pod,
  ResourceSlice,
  VirtualNode,
} from "../api";
import type { KubeClient } from "../kube";
import { isSource } from "../plan/peer-objects";
import type { PeerCounts, TelemetryFacts } from "./report";

/** Which modules the cluster has: kinds of the others may not be read. */
export interface TelemetryModules {
  networking: boolean;
  authentication: boolean;
  offloading: boolean;
}

type Observed = Omit<TelemetryFacts, "clusterID" | "liqoVersion" | "kubernetesVersion" | "provider">;

/** Reads once what a report needs: nothing of it is kept, since a day lies between two. */
export async function observeForTelemetry(client: KubeClient, modules: TelemetryModules): Promise<Observed> {
  const [nodes, foreignClusters, connections, slices, virtualNodes, offloadings, namespaces] =
    await Promise.all([
      client.list(Node),
      client.list(ForeignCluster),
      modules.networking ? client.list(Connection) : [],
      modules.authentication ? client.list(ResourceSlice) : [],
      modules.offloading ? client.list(VirtualNode) : [],
      modules.offloading ? client.list(NamespaceOffloading) : [],
      client.list(Namespace),
    ]);
  const pods = await Promise.all(
    nodes
      .filter((node) => peerOf(node) !== "")
      .map(async (node) => {
        const found = await client.list(Pod, { fieldSelector: `spec.nodeName=${node.metadata.name}` });
        return found.map(({ metadata }) => ({
          namespace: metadata.namespace ?? "",
          clusterID: peerOf(node),
        }));
      }),
  );
  const of = <T extends KubeObject>(objects: readonly T[], clusterId: string) =>
    objects.filter((object) => peerOf(object) === clusterId);
  const peers = new Map(
    foreignClusters.map(({ spec: { clusterID } }): [string, PeerCounts] => {
      const latency = of(connections, clusterID)[0]?.status?.latency?.value;
      return [
        clusterID,
        {
          ...(latency !== undefined && { latency }),
          nodes: of(nodes, clusterID).length,
          virtualNodes: virtualNodes.filter(({ spec }) => spec.clusterID === clusterID).length,
          resourceSlices: of(slices, clusterID).filter((slice) => isSource(slice)).length,
        },
      ];
    }),
  );
  return { nodes, foreignClusters, peers, offloadings, namespaces, offloadedPods: pods.flat() };
}

function peerOf({ metadata }: KubeObject): string {
  return metadata.labels?.[Label.remoteClusterID] ?? "";
}
