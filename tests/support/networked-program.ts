/** What the clusters of the networks' tests are like, and the program that connects them. */
import * as k8s from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";

import * as liqo from "../../components";
import type { RunningCluster } from "../../provider/local-cluster/running-cluster";

export type Side = "rome" | "milan" | "turin";
export const SIDES: readonly Side[] = ["rome", "milan", "turin"];
export const SPECS = {
  rome: { nodes: 2, podCidr: "10.31.0.0/16", serviceCidr: "10.131.0.0/16", liqoNamespace: "liqo" },
  milan: { nodes: 2, podCidr: "10.62.0.0/18", serviceCidr: "10.162.64.0/20", liqoNamespace: "liqo-system" },
  turin: { nodes: 1, podCidr: "10.31.0.0/16", serviceCidr: "10.131.0.0/16", liqoNamespace: "liqo" },
} as const;

/** Clusters each of whose gateways has a second pod that stands by. */
export const REPLICATED: readonly Side[] = ["rome", "milan"];

/** What of the whole there is. */
export interface Parts {
  peered?: boolean;
  /** Whether turin's installation has networking. */
  turin?: boolean;
}

/** Installs the runtime on all of them, and connects them. */
export function networkedProgram(
  clusters: Record<Side, RunningCluster>,
  image: string,
  { peered = true, turin: networked = true }: Parts,
): Record<string, pulumi.Output<unknown>> {
  const installed = (side: Side) => {
    const { kubeconfig, podCidr, serviceCidr, peerApiServerUrl } = clusters[side];
    const provider = liqo.clusterProvider(side, { kubeconfig, clusterIdentifier: side });
    const { clusterId, namespace } = new liqo.Installation(side, {
      cluster: { kubeconfig, provider },
      clusterId: side,
      namespace: SPECS[side].liqoNamespace,
      image,
      ...((networked || side !== "turin") && {
        networking: {
          podCidrs: [podCidr],
          serviceCidr,
          reservedSubnets: ["172.30.0.0/15"],
          ...(REPLICATED.includes(side) && { gateway: { replicas: 2 } }),
        },
      }),
      proxy: side !== "milan",
      // Whoever dials that name gets his own API server, unless a proxy dials it elsewhere.
      apiServer: { address: side === "milan" ? peerApiServerUrl : "https://kubernetes.default.svc" },
    });
    return { kubeconfig, provider, clusterId, liqoNamespace: namespace };
  };
  const rome = installed("rome");
  const milan = installed("milan");
  const turin = installed("turin");
  if (!peered) return {};
  const north = new liqo.Peering("rome-milan", {
    consumer: { ...rome, tenantNamespace: "to-milan" },
    provider: milan,
    resources: { cpu: "1", memory: "1Gi" },
    timeoutSeconds: 300,
  });
  const west = new liqo.Peering("rome-turin", {
    consumer: rome,
    provider: turin,
    bidirectional: true,
    inBand: true,
    resources: { cpu: "500m", memory: "512Mi" },
    reverseResources: { cpu: "500m", memory: "512Mi" },
    networking: { server: "consumer", link: { serviceType: "NodePort", mtu: 1320 } },
    timeoutSeconds: 300,
  });
  const offload = (name: string, cluster: typeof rome, dependsOn: liqo.Peering) => {
    const { provider } = cluster;
    const namespace = new k8s.core.v1.Namespace(name, { metadata: { name } }, { provider });
    new liqo.NamespaceOffloading(
      name,
      { cluster, namespace: namespace.metadata.name, podOffloadingStrategy: "LocalAndRemote" },
      { dependsOn },
    );
  };
  offload("shop", rome, north);
  offload("wine", rome, west);
  offload("books", turin, west);
  return { nodeName: north.nodeName };
}
