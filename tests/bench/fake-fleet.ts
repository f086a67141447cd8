/** Clusters for benchmarks: control planes on the loopback address, fake nodes, the runtime as processes of this machine. */
import { type ChildProcess, spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { type ControlPlane, startControlPlane } from "../../provider/local-cluster/control-plane";
import { KubeClient } from "../../runtime/kube";
import { type PeeringSides, peeringSidesSchema } from "../../runtime/plan/peering";
import { handshake, type HandshakeOptions, virtualNodeReady } from "../support/handshake";
import { HostRuntime } from "../support/host-runtime";

/** What audit logs call the benchmark's own requests. */
export const BENCH_AGENT = "pulumi-liqo-bench";

export interface BenchCluster {
  controlPlane: ControlPlane;
  client: KubeClient;
  stop(): Promise<void>;
}

export async function benchCluster(name: string, serviceCidr: string): Promise<BenchCluster> {
  const controlPlane = await startControlPlane({
    name,
    controllerManager: true,
    scheduler: true,
    auditLog: true,
    serviceCidr,
  });
  const client = KubeClient.fromKubeconfig(controlPlane.kubeconfig, { userAgent: BENCH_AGENT });
  return {
    controlPlane,
    client,
    stop: async () => {
      client.close();
      await controlPlane.stop();
    },
  };
}

/** Starts fake nodes in a process of their own. */
export async function fakeNodes(
  cluster: ControlPlane,
  nodes: number,
  podsPerNode: number,
): Promise<ChildProcess> {
  const kubeconfig = join(cluster.folder, "fake-node.kubeconfig");
  await writeFile(kubeconfig, cluster.kubeconfig, { mode: 0o600 });
  const child = spawn(
    process.execPath,
    [
      require.resolve("../support/fake-node"),
      `--kubeconfig=${kubeconfig}`,
      `--nodes=${nodes}`,
      `--pods-per-node=${podsPerNode}`,
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  process.once("exit", () => child.kill("SIGKILL"));
  await new Promise<void>((resolve, reject) => {
    child.stdout.once("data", () => resolve());
    child.once("exit", (code) => reject(new Error(`fake nodes ended with ${code}`)));
  });
  return child;
}

/** A consumer `rome` and a provider `milan` with fake nodes, peered; both runtimes run. */
export interface PeeredPair {
  consumer: BenchCluster;
  provider: BenchCluster;
  consumerRuntime: HostRuntime;
  providerRuntime: HostRuntime;
  sides: PeeringSides;
  peering: HandshakeOptions;
  /** From the first object to a virtual node that is Ready, in seconds. */
  peeringSeconds: number;
  stop(): Promise<void>;
}

export async function peeredPair(pods: number): Promise<PeeredPair> {
  const [consumer, provider] = await Promise.all([
    benchCluster("rome", "10.91.0.0/16"),
    benchCluster("milan", "10.92.0.0/20"),
  ]);
  const node = await fakeNodes(provider.controlPlane, 1, pods + 100);
  const [consumerRuntime, providerRuntime] = await Promise.all([
    HostRuntime.start({
      cluster: consumer.controlPlane,
      clusterId: "rome",
      namespace: "liqo",
      settings: reachable(consumer),
    }),
    HostRuntime.start({
      cluster: provider.controlPlane,
      clusterId: "milan",
      namespace: "liqo-system",
      settings: reachable(provider),
    }),
  ]);
  const sides = peeringSidesSchema.parse({
    consumer: { clusterId: "rome" },
    provider: { clusterId: "milan" },
  });
  const peering: HandshakeOptions = {
    consumer: consumer.client,
    provider: provider.client,
    sides,
    consumerLiqoNamespace: "liqo",
    sliceName: "milan",
    resources: { cpu: "2000", memory: "4000Gi", pods: String(pods + 100), "ephemeral-storage": "4000Gi" },
  };
  const start = performance.now();
  await handshake(peering);
  await virtualNodeReady(consumer.client, peering.sliceName);
  const peeringSeconds = (performance.now() - start) / 1000;
  return {
    consumer,
    provider,
    consumerRuntime,
    providerRuntime,
    sides,
    peering,
    peeringSeconds,
    stop: async () => {
      await Promise.all([consumerRuntime.stop(), providerRuntime.stop()]);
      node.kill("SIGKILL");
      await Promise.all([consumer.stop(), provider.stop()]);
    },
  };
}

/** Peers reach a control plane without nodes at its loopback address. */
function reachable({ controlPlane }: BenchCluster): {
  apiServer: { address: string; ca: string; trustedCa: boolean };
} {
  return { apiServer: { address: controlPlane.url, ca: controlPlane.caCertificate, trustedCa: false } };
}
