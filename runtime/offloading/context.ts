import type { RuntimeContext } from "../kube";
import type { PodPolicy, PodSecurityLevel } from "../plan/pod-policy";

/** What an offloading controller is given. */
export type OffloadingContext = Pick<
  RuntimeContext,
  "client" | "informers" | "log" | "clock" | "signal" | "metrics" | "events" | "health"
>;

/** What the offloading controllers need to know of the installation. */
export interface OffloadingOptions {
  clusterID: string;
  /** ShadowPods worked on at a time; 10 by default. */
  shadowPodWorkers?: number;
  /** ShadowEndpointSlices worked on at a time; 10 by default. */
  shadowEndpointSliceWorkers?: number;
  /** Whether the clusters' networks are connected by this installation; false by default. */
  networking?: boolean;
  /** Leaves out endpoints at other clusters that would be reached without passing through the consumer; false by default. */
  denyDirectConnections?: boolean;
  /** Removes terminating pods from provider nodes that have gone; off by default. */
  nodeFailure?: boolean;
  /**
   * How long what is offloaded to a peer outlives the last of its virtual nodes while the peering itself goes on; 30 s by default. A virtual
   * node that is replaced must not cost the remote namespaces and their data (field fault B52).
   */
  namespaceMapGraceMs?: number;
  /** Namespace of the installation; `liqo` by default. */
  liqoNamespace?: string;
  /** Whether each virtual node has a process of its own, which runs as an account of the node's name; false by default. */
  virtualKubeletPerNode?: boolean;
  /** Pod Security Standard of the namespaces of consumers; `baseline` by default. */
  podSecurity?: PodSecurityLevel;
  /** What pods of consumers may name of this cluster; of what no pod needs, nothing by default. */
  podPolicy?: PodPolicy;
}
