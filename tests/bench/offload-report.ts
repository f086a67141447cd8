/** What the rounds of `bench offload` measured, and how it is printed. */
import { type AuditEvent, countRequests, describeRequest } from "../support/audit-log";
import { usageOf } from "../support/process-usage";
import { quantile, spread } from "../support/statistics";

/** A name to print and the process's id. */
export type NamedProcess = readonly [name: string, pid: number];

/** One Deployment, from its creation to its last pod's end. */
export interface Round {
  pods: number;
  seconds: number;
  latenciesMs: number[];
  /** Of the whole machine, until nothing was written any more. */
  cpuSeconds: number;
  requests: AuditEvent[];
  processes: readonly NamedProcess[];
  /** CPU seconds of each process, by name, until the pods ran. */
  cpuOfProcesses: Map<string, number>;
  deletionSeconds: number;
  deletionCpuOfProcesses: Map<string, number>;
  /** Of offloaded pods only. */
  deletionRequests: AuditEvent[];
}

export function cpuOf(processes: readonly NamedProcess[]): Map<string, number> {
  return new Map(processes.map(([name, pid]) => [name, usageOf(pid)?.cpuSeconds ?? 0]));
}

export function cpuSince(
  processes: readonly NamedProcess[],
  before: ReadonlyMap<string, number>,
): Map<string, number> {
  return new Map([...cpuOf(processes)].map(([of, seconds]) => [of, seconds - (before.get(of) ?? 0)]));
}

/** Rounds of one size, in the order they were run. A round's share is its rate by that of the plain cluster beside it. */
export function reportRounds(plain: readonly Round[], pair: readonly Round[]): void {
  const [lastPlain, lastPair] = [plain.at(-1), pair.at(-1)];
  if (lastPlain === undefined || lastPair === undefined) return;
  const { pods } = lastPair;
  const shares = pair.map((round, i) => (100 * rateOf(round)) / rateOf(plain[i]));
  print(`${pods} pods, ${pair.length} rounds: min / median / max`);
  print(
    `  offloaded: ${spread(pair.map(rateOf))} pods/s; plain cluster: ${spread(plain.map(rateOf))} pods/s`,
  );
  print(`  share of the plain cluster's rate, round by round: ${spread(shares)} %`);
  for (const q of [0.5, 0.99]) {
    const latencies = pair.map(({ latenciesMs }) => quantile(latenciesMs, q));
    print(`  binding to Running, p${q * 100}: ${spread(latencies, 0)} ms`);
  }
  print(
    `  CPU a pod, whole machine: ${spread(pair.map(cpuOfPod))} ms; plain: ${spread(plain.map(cpuOfPod))} ms`,
  );
  print(
    `  deleted on both sides in ${spread(pair.map(({ deletionSeconds }) => deletionSeconds))} s; ` +
      `plain: ${spread(plain.map(({ deletionSeconds }) => deletionSeconds))} s`,
  );
  print(
    `of the last round: ${(lastPlain.requests.length / pods).toFixed(1)} API requests a pod on the plain cluster`,
  );
  printRequests("to Running", lastPair.requests, pods);
  printRequests("to its end", lastPair.deletionRequests, pods);
  printProcesses(lastPlain);
  printProcesses(lastPair);
}

function rateOf(round: Round | undefined): number {
  return round === undefined ? NaN : round.pods / round.seconds;
}

function cpuOfPod({ cpuSeconds, pods }: Round): number {
  return (1000 * cpuSeconds) / pods;
}

function printRequests(until: string, requests: readonly AuditEvent[], pods: number): void {
  print(`  ${(requests.length / pods).toFixed(2)} API requests of an offloaded pod ${until}, both sides:`);
  for (const [what, count] of countRequests(requests, describeWithUser)) {
    if (count / pods >= 0.05) print(`    ${(count / pods).toFixed(2)}  ${what}`);
  }
}

function describeWithUser(event: AuditEvent): string {
  return `${describeRequest(event)}  (${event.user.username})`;
}

function printProcesses({ processes, pods, cpuOfProcesses, deletionCpuOfProcesses }: Round): void {
  print("  process: CPU a pod until all ran, and until all were gone (ms); memory after that (MB, PSS)");
  const perPod = (seconds = 0) => ((1000 * seconds) / pods).toFixed(1).padStart(7);
  for (const [name, pid] of processes) {
    const usage = usageOf(pid);
    if (usage === undefined) continue;
    const made = perPod(cpuOfProcesses.get(name));
    const gone = perPod(deletionCpuOfProcesses.get(name));
    print(`    ${name.padEnd(32)} ${made} ${gone} ${usage.pssMb.toFixed(0).padStart(6)}`);
  }
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
