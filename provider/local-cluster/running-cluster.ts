/** A local cluster as its users see it. */
export interface RunningCluster {
  name: string;
  backend: "kind" | "native";
  /** Administrator's kubeconfig text: a secret. */
  kubeconfig: string;
  apiServerUrl: string;
  nodeNames: string[];
  podCidr: string;
  serviceCidr: string;
  /** Folder of the cluster's state and logs on this machine; undefined where the backend keeps them. */
  folder?: string;
  /** The API server's audit log, if the cluster was made with one. */
  auditLogPath?: string;
}
