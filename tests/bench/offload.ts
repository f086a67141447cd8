/**
 * `npm run bench -- offload [--pods 100,500,1000] [--rounds 3] [--steady 60]`
 *
 * A Deployment offloaded to a provider whose fake nodes report pods Running in about 10 ms, beside the same Deployment on one plain cluster
 * with the same fake nodes. Both are there from the beginning and take turns, since the speed of a machine changes within minutes. Prints pods a
 * second, the delay from binding to Running at the consumer, the API requests of a pod by verb and resource, CPU seconds of the machine and of each
 * process, and the time until all pods are gone on both sides; with several rounds as min / median / max.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import { NamespaceOffloading } from "../../runtime/api/offloading";
import { Pod, ServiceAccount } from "../../runtime/api/kubernetes";
import type { KubeClient } from "../../runtime/kube";
import { namespaceOffloading, namespaceOffloadingSchema } from "../../runtime/plan/offloading";
import { type AuditEvent, auditEvents } from "../support/audit-log";
import { machineCpuSeconds } from "../support/process-usage";
import { quantile } from "../support/statistics";
import { until } from "../support/until";
import {
  BENCH_AGENT,
  type BenchCluster,
  benchCluster,
  fakeNodes,
  type PeeredPair,
  peeredPair,
} from "./fake-fleet";
import { cpuOf, cpuSince, type NamedProcess, print, reportRounds, type Round } from "./offload-report";
import { createNamespace, deleteAndWait, deployAndWait, PodWatch, singlePod } from "./workload";

const NAMESPACE = "bench";
const REMOTE_NAMESPACE = "bench-rome";

export async function offload(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      pods: { type: "string", default: "100,500,1000" },
      rounds: { type: "string", default: "3" },
      steady: { type: "string", default: "60" },
    },
  });
  const sizes = values.pods.split(",").map(Number);
  const most = Math.max(...sizes);

  const plain = await plainCluster(most);
  const pair = await peeredPair(most);
  try {
    print(`peering: ${pair.peeringSeconds.toFixed(2)} s from the first object to a virtual node Ready`);
    await offloadNamespace(pair);
    for (const pods of sizes) {
      const plainRounds: Round[] = [];
      const pairRounds: Round[] = [];
      for (let round = 0; round < Number(values.rounds); round++) {
        const turns = [
          async () => plainRounds.push(await plainRound(plain, pods)),
          async () => pairRounds.push(await pairRound(pair, pods)),
        ];
        // Each of them goes first in half of the rounds.
        for (const turn of round % 2 === 0 ? turns : turns.reverse()) await turn();
      }
      reportRounds(plainRounds, pairRounds);
    }
    await steady(pair.consumer.client, Number(values.steady));
  } finally {
    await Promise.all([plain.stop(), pair.stop()]);
  }
}

async function plainCluster(most: number): Promise<BenchCluster> {
  const cluster = await benchCluster("plain", "10.93.0.0/16");
  const node = await fakeNodes(cluster.controlPlane, 1, most + 100);
  await createNamespace(cluster.client, NAMESPACE);
  await untilServiceAccount(cluster.client, NAMESPACE);
  return {
    ...cluster,
    stop: async () => {
      node.kill("SIGKILL");
      await cluster.stop();
    },
  };
}

async function plainRound(cluster: BenchCluster, pods: number): Promise<Round> {
  const processes = controlPlaneProcesses("plain", cluster);
  const round = await measure(pods, [cluster], processes, () =>
    deployAndWait(cluster.client, NAMESPACE, `app-${pods}`, pods),
  );
  const before = cpuOf(processes);
  round.deletionSeconds = await deleteAndWait(cluster.client, NAMESPACE, `app-${pods}`);
  round.deletionCpuOfProcesses = cpuSince(processes, before);
  await settle([cluster]);
  return round;
}

async function pairRound(pair: PeeredPair, pods: number): Promise<Round> {
  const { consumer, provider } = pair;
  const name = `app-${pods}`;
  const round = await measure(pods, [consumer, provider], processesOf(pair), () =>
    deployAndWait(consumer.client, NAMESPACE, name, pods),
  );
  const from = Date.now();
  const before = cpuOf(processesOf(pair));
  round.deletionSeconds = await deleteAndWait(consumer.client, NAMESPACE, name, [
    { client: provider.client, namespace: REMOTE_NAMESPACE },
  ]);
  round.deletionCpuOfProcesses = cpuSince(processesOf(pair), before);
  await settle([consumer, provider]);
  round.deletionRequests = requestsSince([consumer, provider], from);
  return round;
}

async function measure(
  pods: number,
  clusters: BenchCluster[],
  processes: readonly NamedProcess[],
  work: () => Promise<{ seconds: number; latenciesMs: number[] }>,
): Promise<Round> {
  const from = Date.now();
  const cpu = machineCpuSeconds();
  const before = cpuOf(processes);
  const { seconds, latenciesMs } = await work();
  await settle(clusters);
  const cpuSeconds = machineCpuSeconds() - cpu;
  const cpuOfProcesses = cpuSince(processes, before);
  return {
    pods,
    seconds,
    latenciesMs,
    cpuSeconds,
    requests: requestsSince(clusters, from),
    processes,
    cpuOfProcesses,
    deletionSeconds: NaN,
    deletionCpuOfProcesses: new Map(),
    deletionRequests: [],
  };
}

/**
 * What a pod costs does not end when it is Running, or gone: events and statuses follow, some of them when there is time. So this waits until
 * nothing has been written for two seconds.
 */
async function settle(clusters: readonly BenchCluster[]): Promise<void> {
  await sleep(2_000);
  while (requestsSince(clusters, Date.now() - 2_000).length > 0) await sleep(500);
  // Audit logs are written in batches.
  await sleep(2_000);
}

function requestsSince(clusters: readonly BenchCluster[], from: number): AuditEvent[] {
  return clusters.flatMap(({ controlPlane }) =>
    auditEvents(controlPlane.auditLogPath ?? "", from, Date.now()).filter(countsForPods),
  );
}

/** Leases, health checks and watches go on whether pods come or not; the benchmark's own requests are nobody's cost. */
function countsForPods(event: AuditEvent): boolean {
  const resource = event.objectRef?.resource;
  return (
    resource !== undefined &&
    resource !== "leases" &&
    event.verb !== "watch" &&
    event.userAgent?.startsWith(BENCH_AGENT) !== true
  );
}

function processesOf({ consumer, provider, consumerRuntime, providerRuntime }: PeeredPair): NamedProcess[] {
  const runtime = (side: string, host: PeeredPair["consumerRuntime"]) =>
    host.components().map((component): NamedProcess => [`${side} ${component}`, host.pid(component)]);
  return [
    ...runtime("rome", consumerRuntime),
    ...runtime("milan", providerRuntime),
    ...controlPlaneProcesses("rome", consumer),
    ...controlPlaneProcesses("milan", provider),
  ];
}

function controlPlaneProcesses(side: string, { controlPlane }: BenchCluster): NamedProcess[] {
  return Object.entries(controlPlane.pids()).map(([name, pid]) => [`${side} ${name}`, pid]);
}

/** One pod a second, as in quiet use. */
async function steady(client: KubeClient, pods: number): Promise<void> {
  const watch = await PodWatch.start(client, NAMESPACE);
  for (let i = 0; i < pods; i++) {
    await client.create(Pod, singlePod(NAMESPACE, `steady-${i}`));
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  await until("steady pods Running", () => watch.runningCount() >= pods);
  await watch.stop();
  print(
    `one pod a second, ${pods} pods: binding to Running p50 ${quantile(watch.latenciesMs(), 0.5).toFixed(0)} ms, ` +
      `p99 ${quantile(watch.latenciesMs(), 0.99).toFixed(0)} ms`,
  );
}

export async function offloadNamespace({ consumer }: PeeredPair): Promise<void> {
  await createNamespace(consumer.client, NAMESPACE);
  await untilServiceAccount(consumer.client, NAMESPACE);
  const manifest = namespaceOffloading(
    namespaceOffloadingSchema.parse({ namespace: NAMESPACE, podOffloadingStrategy: "Remote" }),
  );
  await consumer.client.create(NamespaceOffloading, manifest);
  await until("namespace offloaded", async () => {
    const { status } = (await consumer.client.get(NamespaceOffloading, manifest.metadata)) ?? {};
    return status?.offloadingPhase === "Ready";
  });
}

/** Pods are refused until their namespace has its default service account. */
async function untilServiceAccount(client: KubeClient, namespace: string): Promise<void> {
  await until("default service account", () => client.get(ServiceAccount, { name: "default", namespace }));
}
