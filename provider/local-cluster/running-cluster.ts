/** A local cluster as its users see it. */
export interface RunningCluster {
  name: string;
  backend: "kind" | "native";
  /** Administrator's kubeconfig text: a secret. */
  kubeconfig: string;
  /** The API server as this machine reaches it. */
  apiServerUrl: string;
  /** The API server as pods of other local clusters reach it. */
  peerApiServerUrl: string;
  nodeNames: string[];
  podCidr: string;
  serviceCidr: string;
  /** Folder of the cluster's state and logs on this machine; undefined where the backend keeps them. */
  folder?: string;
  /** The API server's audit log, if the cluster was made with one. */
  auditLogPath?: string;
}

/** One line of a list of clusters. */
export interface ClusterSummary {
  name: string;
  backend: "kind" | "native";
  /** False after a reboot or after its processes were killed: the next `up` takes it up again. */
  running: boolean;
  nodes: number;
  podCidr: string;
  serviceCidr: string;
}
