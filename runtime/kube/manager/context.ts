import { Counter, Gauge, Registry } from "prom-client";

import type { InformerSet } from "../cache/informer-set";
import type { KubeClient } from "../client/client";
import type { Clock } from "../clock";
import type { EventRecorder } from "../controller/events";
import type { Logger } from "../log";
import type { Elections } from "./elections";
import type { Health } from "./probe-server";

/** What a component's start function receives. */
export interface RuntimeContext {
  client: KubeClient;
  informers: InformerSet;
  log: Logger;
  clock: Clock;
  /** Aborted when the process is to end. */
  signal: AbortSignal;
  metrics: Registry;
  health: Health;
  events: EventRecorder;
  elections: Elections;
  /** What the process waits for, briefly, before it ends, such as leases being given back. */
  shutdown: Set<Promise<unknown>>;
}

/** The first problem, and how many more there are; undefined where there is none. */
export function summarize(problems: string[]): string | undefined {
  const [first, ...more] = problems;
  return first === undefined || more.length === 0 ? first : `${first} (and ${more.length} more)`;
}

/** A registry that knows the process: its memory and its CPU time, under the names that dashboards expect. */
export function createRegistry(): Registry {
  const metrics = new Registry();
  const registers = [metrics];
  new Gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory",
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Gauge({
    name: "nodejs_heap_size_used_bytes",
    help: "Used part of the JavaScript heap",
    registers,
    collect() {
      this.set(process.memoryUsage().heapUsed);
    },
  });
  new Counter({
    name: "process_cpu_seconds_total",
    help: "CPU time, user and system",
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  new Gauge({
    name: "process_start_time_seconds",
    help: "When the process began, seconds since 1970",
    registers,
  }).set(Math.round(Date.now() / 1000 - process.uptime()));
  return metrics;
}
