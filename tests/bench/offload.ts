/**
 * `npm run bench -- offload [--pods 100,500,1000] [--steady 60]`
 *
 * A Deployment offloaded to a provider whose fake nodes report pods Running in about 10 ms, beside the same Deployment on one plain cluster
 * with the same fake nodes, in the same run. Prints pods a second, the delay from binding to Running at the consumer, the API requests of a pod
 * by verb and resource, CPU seconds of the machine and of each process, and the time until all pods are gone on both sides.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import { NamespaceOffloading } from "../../runtime/api/offloading";
import { Pod, ServiceAccount } from "../../runtime/api/kubernetes";
import type { KubeClient } from "../../runtime/kube/client";
import { namespaceOffloading, namespaceOffloadingSchema } from "../../runtime/plan/offloading";
import { type AuditEvent, auditEvents, countRequests, describeRequest } from "../support/audit-log";
import { machineCpuSeconds, usageOf } from "../support/process-usage";
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
import { createNamespace, deleteAndWait, deployAndWait, PodWatch, singlePod } from "./workload";

const NAMESPACE = "bench";
const REMOTE_NAMESPACE = "bench-rome";

interface Round {
  pods: number;
  seconds: number;
  latenciesMs: number[];
  cpuSeconds: number;
  requests: AuditEvent[];
  /** CPU seconds of each process, by name, until the pods ran. */
  cpuOfProcesses: Map<string, number>;
  deletionSeconds: number;
  /** Of the offloaded pods only. */
  deletionCpuOfProcesses: Map<string, number>;
  deletionRequests: AuditEvent[];
}

export async function offload(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { pods: { type: "string", default: "100,500,1000" }, steady: { type: "string", default: "60" } },
  });
  const sizes = values.pods.split(",").map(Number);
  const most = Math.max(...sizes);

  print("plain cluster");
  const plain = await plainRounds(sizes, most);
  print("peered pair");
  const pair = await peeredPair(most);
  try {
    print(`peering: ${pair.peeringSeconds.toFixed(2)} s from the first object to a virtual node Ready`);
    await offloadNamespace(pair);
    for (const [index, pods] of sizes.entries()) {
      const round = await pairRound(pair, pods);
      report(round, plain[index]);
      reportProcesses(processesOf(pair), round);
    }
    await steady(pair.consumer.client, Number(values.steady));
  } finally {
    await pair.stop();
  }
}

async function plainRounds(sizes: number[], most: number): Promise<Round[]> {
  const cluster = await benchCluster("plain", "10.93.0.0/16");
  const node = await fakeNodes(cluster.controlPlane, 1, most + 100);
  try {
    await createNamespace(cluster.client, NAMESPACE);
    await untilServiceAccount(cluster.client, NAMESPACE);
    const rounds: Round[] = [];
    for (const pods of sizes) {
      const processes = controlPlaneProcesses("plain", cluster);
      const round = await measure(pods, [cluster], processes, () =>
        deployAndWait(cluster.client, NAMESPACE, `app-${pods}`, pods),
      );
      round.deletionSeconds = await deleteAndWait(cluster.client, NAMESPACE, `app-${pods}`);
      print(
        `  ${pods} pods: ${(pods / round.seconds).toFixed(1)} pods/s, ${(round.requests.length / pods).toFixed(1)} requests a pod, ` +
          `${((round.cpuSeconds * 1000) / pods).toFixed(0)} ms CPU a pod, deleted in ${round.deletionSeconds.toFixed(1)} s`,
      );
      reportProcesses(processes, round);
      rounds.push(round);
    }
    return rounds;
  } finally {
    node.kill("SIGKILL");
    await cluster.stop();
  }
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

function report(round: Round, plain: Round | undefined): void {
  const rate = round.pods / round.seconds;
  const plainRate = plain === undefined ? NaN : plain.pods / plain.seconds;
  print(`${round.pods} pods offloaded`);
  print(
    `  ${rate.toFixed(1)} pods/s, ${((100 * rate) / plainRate).toFixed(0)} % of the plain cluster's ${plainRate.toFixed(1)}`,
  );
  print(
    `  binding to Running: p50 ${quantile(round.latenciesMs, 0.5).toFixed(0)} ms, p99 ${quantile(round.latenciesMs, 0.99).toFixed(0)} ms`,
  );
  print(`  ${((1000 * round.cpuSeconds) / round.pods).toFixed(0)} ms CPU a pod, whole machine`);
  printRequests(round.requests, round.pods);
  print(
    `  deleted on both sides in ${round.deletionSeconds.toFixed(1)} s (plain ${plain?.deletionSeconds.toFixed(1) ?? "?"} s)`,
  );
  printRequests(round.deletionRequests, round.pods);
}

function printRequests(requests: readonly AuditEvent[], pods: number): void {
  print(`  ${(requests.length / pods).toFixed(2)} API requests a pod, both sides:`);
  for (const [what, count] of countRequests(requests, describeWithUser)) {
    if (count / pods >= 0.05) print(`    ${(count / pods).toFixed(2)}  ${what}`);
  }
}

function describeWithUser(event: AuditEvent): string {
  return `${describeRequest(event)}  (${event.user.username})`;
}

/** A name to print and the process's id. */
type NamedProcess = readonly [name: string, pid: number];

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

function cpuOf(processes: readonly NamedProcess[]): Map<string, number> {
  return new Map(processes.map(([name, pid]) => [name, usageOf(pid)?.cpuSeconds ?? 0]));
}

function cpuSince(
  processes: readonly NamedProcess[],
  before: ReadonlyMap<string, number>,
): Map<string, number> {
  return new Map([...cpuOf(processes)].map(([of, seconds]) => [of, seconds - (before.get(of) ?? 0)]));
}

function reportProcesses(processes: readonly NamedProcess[], round: Round): void {
  print("  process: CPU a pod until all ran, and until all were gone (ms); memory after that (MB, PSS)");
  const perPod = (seconds = 0) => ((1000 * seconds) / round.pods).toFixed(1).padStart(7);
  for (const [name, pid] of processes) {
    const usage = usageOf(pid);
    if (usage === undefined) continue;
    const made = perPod(round.cpuOfProcesses.get(name));
    const gone = perPod(round.deletionCpuOfProcesses.get(name));
    print(`    ${name.padEnd(32)} ${made} ${gone} ${usage.pssMb.toFixed(0).padStart(6)}`);
  }
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

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
