/** Two installations and what a Pulumi program declares between them. */
import { join } from "node:path";

import * as k8s from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";

import * as liqo from "../../components";
import { clusterGroup } from "../../provider/local-cluster/native/cluster-plan";
import {
  hierarchies,
  processesIn,
  trackingHierarchy,
} from "../../provider/local-cluster/native/control-groups";
import { nativeLayout } from "../../provider/local-cluster/native/layout";
import type { RunningCluster } from "../../provider/local-cluster/running-cluster";
import { killProcessesIn } from "./machine-traces";
import { until } from "./until";

export type Side = "rome" | "milan";

/** What a program of these tests has; each test changes one thing. */
export interface Fabric {
  installations: boolean;
  /** Whether milan grants what is asked with the built-in class. */
  grants: boolean;
  peering: boolean;
  bidirectional: boolean;
  memory: string;
  /** A second virtual node from the same slice. */
  secondNode: boolean;
  offloading: boolean;
  /** What not everybody wants: a virtual kubelet for each node of rome; the metric agent, the proxy and telemetry of milan. */
  extras: boolean;
  /** Kubeconfig of milan, as the peering gets it. */
  milanKubeconfig: string;
}

/** The Pulumi program of a fabric: what it has of rome, of milan, and between them. */
export function fabricProgram(
  fabric: Fabric,
  clusters: Record<Side, RunningCluster>,
  image: string,
): Record<string, pulumi.Output<unknown>> {
  if (!fabric.installations) return {};
  const providers = {
    rome: liqo.clusterProvider("rome", { kubeconfig: clusters.rome.kubeconfig, clusterIdentifier: "rome" }),
    milan: liqo.clusterProvider("milan", {
      kubeconfig: clusters.milan.kubeconfig,
      clusterIdentifier: "milan",
    }),
  };
  const rome = new liqo.Installation("rome", {
    cluster: { kubeconfig: clusters.rome.kubeconfig, provider: providers.rome },
    clusterId: "rome",
    image: image,
    apiServer: { address: clusters.rome.peerApiServerUrl },
    virtualKubeletPerNode: fabric.extras,
  });
  const milan = new liqo.Installation("milan", {
    cluster: { kubeconfig: clusters.milan.kubeconfig, provider: providers.milan },
    clusterId: "milan",
    namespace: "liqo-system",
    image: image,
    apiServer: { address: clusters.milan.peerApiServerUrl },
    defaultResourceSliceClassEnabled: fabric.grants,
    metricAgent: fabric.extras,
    proxy: fabric.extras,
    ...(fabric.extras && { telemetry: { endpoint: "http://collector.default.svc:8080/reports" } }),
  });
  if (!fabric.peering) return {};
  const consumer = {
    kubeconfig: clusters.rome.kubeconfig,
    provider: providers.rome,
    clusterId: rome.clusterId,
    liqoNamespace: rome.namespace,
  };
  const peering = new liqo.Peering("rome-milan", {
    consumer,
    provider: {
      kubeconfig: fabric.milanKubeconfig,
      provider: providers.milan,
      clusterId: milan.clusterId,
      liqoNamespace: milan.namespace,
    },
    bidirectional: fabric.bidirectional,
    networking: { enabled: false },
    resources: { cpu: "1", memory: fabric.memory },
    timeoutSeconds: 60,
  });
  if (fabric.secondNode) {
    new liqo.VirtualNode(
      "small",
      {
        consumer,
        providerClusterId: "milan",
        nodeName: "milan-small",
        kubeconfigSecretName: "kubeconfig-resourceslice-milan",
        resources: { cpu: "100m", memory: "64Mi", pods: "2" },
        labels: { size: "small" },
      },
      { dependsOn: peering },
    );
  }
  if (fabric.offloading) {
    const namespace = new k8s.core.v1.Namespace(
      "shop",
      { metadata: { name: "shop" } },
      { provider: providers.rome },
    );
    new liqo.NamespaceOffloading(
      "shop",
      { cluster: consumer, namespace: namespace.metadata.name, podOffloadingStrategy: "LocalAndRemote" },
      { dependsOn: peering },
    );
  }
  return { nodeName: peering.nodeName, reverseNodeName: peering.reverseNodeName };
}

/** SIGKILL to every process of a native cluster, as when its machine goes away. */
export async function killCluster(name: string): Promise<void> {
  const group = clusterGroup(nativeLayout(), name);
  const folder = join(trackingHierarchy(await hierarchies()).mountPoint, group);
  await killProcessesIn(folder);
  await until("the cluster's processes are gone", async () => (await processesIn(folder)).length === 0);
}
