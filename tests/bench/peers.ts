/**
 * `npm run bench -- peers [--peers 50] [--idle 30] [--probes 40]`
 *
 * One consumer with many providers, API servers only: what its control plane takes at rest and while one provider is unreachable, and whether the
 * others notice. The providers are namespaces of one control plane, each reached by a road of its own, which can be cut.
 */
import { parseArgs } from "node:util";

import { ForeignCluster, Label, Namespace, ResourceSlice, RoleBinding, Secret } from "../../runtime/api";
import type { Desired } from "../../runtime/api";
import { resourceSlice, tenantNamespace } from "../../runtime/plan/peering";
import { auditEvents, countRequests } from "../support/audit-log";
import { HostRuntime } from "../support/host-runtime";
import { installDefinitions } from "../support/install-definitions";
import { installRoles } from "../support/install-roles";
import { usageOf } from "../support/process-usage";
import { quantile } from "../support/statistics";
import { TcpProxy } from "../support/tcp-proxy";
import { until } from "../support/until";
import { type BenchCluster, benchCluster } from "./fake-fleet";

/** The user by which the consumer is known everywhere. */
const USER = "rome-at-its-providers";
const PATIENCE = { timeoutMs: 120_000, everyMs: 50 };

interface Peer {
  id: string;
  /** At the consumer, and at the provider. */
  namespace: string;
  remoteNamespace: string;
  road: TcpProxy;
}

export async function peers(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      peers: { type: "string", default: "50" },
      idle: { type: "string", default: "30" },
      probes: { type: "string", default: "40" },
    },
  });
  const [count, idle, probes] = [values.peers, values.idle, values.probes].map(Number);
  const [consumer, providers] = await Promise.all([
    benchCluster("rome", "10.97.0.0/16"),
    benchCluster("milan", "10.98.0.0/16"),
  ]);
  let runtime: HostRuntime | undefined;
  const roads: TcpProxy[] = [];
  try {
    runtime = await HostRuntime.start({
      cluster: consumer.controlPlane,
      clusterId: "rome",
      namespace: "liqo",
    });
    await installDefinitions(providers.client);
    await providers.client.create(Namespace, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "liqo-system" },
    });
    await installRoles(providers.client, "liqo-system");
    const bench = new Bench(consumer, providers, runtime);

    await observe(bench, "no peer", idle ?? 30);
    const all: Peer[] = [];
    const begin = performance.now();
    for (let index = 0; index < (count ?? 50); index += 1) {
      const peer = await bench.connect(index);
      roads.push(peer.road);
      all.push(peer);
    }
    await until("all peers answer", async () => (await bench.established()) === all.length, PATIENCE);
    await until("all slices are copied", async () => (await bench.copies()) === all.length, PATIENCE);
    line(`${all.length} peers: connected and copied to after ${seconds(performance.now() - begin)} s`);
    await observe(bench, `${all.length} peers at rest`, idle ?? 30);
    await probe(bench, all, "at rest", probes ?? 40);

    const [lost, ...others] = all;
    if (lost === undefined || others.length === 0) return;
    lost.road.freeze();
    const frozen = performance.now();
    await bench.slice(lost, "stuck");
    await until("the lost peer is told", async () => (await bench.established()) === others.length, PATIENCE);
    line(`one peer silent: its ForeignCluster says so after ${seconds(performance.now() - frozen)} s`);
    await observe(bench, "one peer silent", idle ?? 30);
    await probe(bench, others, "one peer silent", probes ?? 40);

    lost.road.refuse();
    lost.road.cut();
    await observe(bench, "one peer refuses connections", idle ?? 30);
    await probe(bench, others, "one peer refuses connections", probes ?? 40);

    lost.road.thaw();
    lost.road.allow();
    lost.road.cut();
    const back = performance.now();
    await until("the lost peer has its copy", async () => await bench.hasCopy(lost, "stuck"), PATIENCE);
    line(`the lost peer is back: what waited is copied after ${seconds(performance.now() - back)} s`);
  } finally {
    await runtime?.stop();
    await Promise.all([consumer.stop(), providers.stop()]);
    for (const road of roads) void road.close();
  }
}

class Bench {
  constructor(
    readonly consumer: BenchCluster,
    readonly providers: BenchCluster,
    readonly runtime: HostRuntime,
  ) {}

  async connect(index: number): Promise<Peer> {
    const { controlPlane } = this.providers;
    const road = await TcpProxy.start({ host: "127.0.0.1", port: Number(new URL(controlPlane.url).port) });
    const peer = {
      id: `peer-${index}`,
      namespace: `to-peer-${index}`,
      remoteNamespace: `rome-at-${index}`,
      road,
    };
    const kubeconfig = (await controlPlane.kubeconfigFor({ name: USER })).replace(
      /server: .*/,
      `server: https://127.0.0.1:${road.port}`,
    );
    await this.providers.client.create(Namespace, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: peer.remoteNamespace },
    });
    await this.providers.client.create(RoleBinding, bindingIn(peer.remoteNamespace));
    await this.consumer.client.create(Namespace, tenantNamespace(peer.namespace, peer.id));
    await this.consumer.client.create(Secret, identityOf(peer, kubeconfig));
    await this.slice(peer, `pool-${peer.id}`);
    return peer;
  }

  async slice(peer: Peer, name: string): Promise<void> {
    await this.consumer.client.create(
      ResourceSlice,
      resourceSlice(
        {
          providerClusterId: peer.id,
          tenantNamespace: peer.namespace,
          sliceName: name,
          class: "default",
          resources: { cpu: "4" },
        },
        false,
      ),
    );
  }

  async hasCopy(peer: Peer, name: string): Promise<boolean> {
    const ref = { name, namespace: peer.remoteNamespace };
    return (await this.providers.client.get(ResourceSlice, ref)) !== undefined;
  }

  async copies(): Promise<number> {
    return (await this.providers.client.list(ResourceSlice)).length;
  }

  /** Peers whose API server is said to answer. */
  async established(): Promise<number> {
    const all = await this.consumer.client.list(ForeignCluster);
    return all.filter(({ status }) =>
      status?.conditions?.some(({ status: state }) => state === "Established"),
    ).length;
  }
}

/** What the processes take over some time. */
async function observe(
  { runtime, consumer, providers }: Bench,
  what: string,
  forSeconds: number,
): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 5_000)); // what came before settles
  const cpu = () => runtime.components().map((component) => usageOf(runtime.pid(component))?.cpuSeconds ?? 0);
  const before = cpu();
  const from = Date.now();
  await new Promise((resolve) => setTimeout(resolve, forSeconds * 1000));
  const after = cpu();
  line(what);
  for (const [index, component] of runtime.components().entries()) {
    const cores = ((after[index] ?? 0) - (before[index] ?? 0)) / forSeconds;
    const memory = usageOf(runtime.pid(component))?.pssMb ?? 0;
    line(`  ${component}: ${memory.toFixed(0)} MB PSS, ${cores.toFixed(4)} core`);
  }
  for (const [name, cluster, ours] of [
    ["consumer", consumer, (user: string) => user.startsWith("system:serviceaccount:liqo:")],
    ["providers", providers, (user: string) => user === USER],
  ] as const) {
    const requests = auditEvents(cluster.controlPlane.auditLogPath ?? "", from).filter((event) =>
      ours(event.user.username),
    );
    const most = countRequests(requests)
      .slice(0, 4)
      .map(([request, times]) => `${request} ${times}`);
    line(
      `  API of the ${name}: ${(requests.length / forSeconds).toFixed(2)} requests/s (${most.join(", ")})`,
    );
  }
}

/** From a slice at the consumer to its copy at the provider, one after the other. */
async function probe(bench: Bench, among: readonly Peer[], what: string, times: number): Promise<void> {
  const took: number[] = [];
  for (let index = 0; index < times; index += 1) {
    const peer = among[index % among.length];
    if (peer === undefined) return;
    const name = `${what.replaceAll(" ", "-")}-${index}`;
    const begin = performance.now();
    await bench.slice(peer, name);
    await until(`copy of ${name}`, () => bench.hasCopy(peer, name), { timeoutMs: 60_000, everyMs: 2 });
    took.push(performance.now() - begin);
  }
  line(
    `  slice to copy, ${what}: p50 ${quantile(took, 0.5).toFixed(0)} ms, p99 ${quantile(took, 0.99).toFixed(0)} ms (${times} slices)`,
  );
}

function bindingIn(namespace: string): Desired<RoleBinding> {
  const apiGroup = "rbac.authorization.k8s.io";
  return {
    apiVersion: `${apiGroup}/v1`,
    kind: "RoleBinding",
    metadata: { name: "liqo-binding-liqo-remote-controlplane", namespace },
    roleRef: { apiGroup, kind: "ClusterRole", name: "liqo-remote-controlplane" },
    subjects: [{ apiGroup, kind: "User", name: USER }],
  };
}

function identityOf(peer: Peer, kubeconfig: string): Desired<Secret> {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: "control-plane",
      namespace: peer.namespace,
      labels: { [Label.identityType]: "ControlPlane", [Label.remoteClusterID]: peer.id },
      annotations: { "liqo.io/remote-tenant-namespace": peer.remoteNamespace },
    },
    data: { kubeconfig: Buffer.from(kubeconfig).toString("base64") },
  };
}

function line(text: string): void {
  process.stdout.write(`${text}\n`);
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}
