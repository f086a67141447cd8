import type { Configuration, ForeignCluster, IP, VirtualNode } from "../../api";
import type { Node } from "../../api/kubernetes";
import type { Informer, KubeClient, RuntimeContext } from "../../kube";
import type { ProcessFlags } from "../flags";
import type { Peers } from "../peer/peers";
import type { ReflectionReports } from "../reflection/report";

/** What all virtual nodes of the process share. */
export interface Services {
  context: RuntimeContext;
  /** Of this cluster, for leases alone: when hundreds of pods start at once, their requests must not hold a renewal up. */
  leaseClient: KubeClient;
  flags: ProcessFlags;
  reports: ReflectionReports;
  peers: Peers;
  caches: Caches;
  /** Where the kubelet endpoint listens. */
  kubeletPort: number;
  /** Version of this cluster's API server, which virtual nodes show as their kubelet's. */
  kubeletVersion: string;
}

/** Watches of this cluster. */
export interface Caches {
  virtualNodes: Informer<VirtualNode>;
  /** Virtual ones only. */
  nodes: Informer<Node>;
  foreignClusters: Informer<ForeignCluster>;
  configurations: Informer<Configuration>;
  /** Addresses at which peers reach this cluster's API server. */
  apiServerIps: Informer<IP>;
}
