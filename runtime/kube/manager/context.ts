import { readFileSync } from "node:fs";
import { dirname } from "node:path";

import { Counter, Gauge, Registry } from "prom-client";

import { InformerSet } from "../cache/informer-set";
import { KubeClient } from "../client/client";
import type { ClientOptions } from "../client/client-options";
import { KubeconfigError } from "../client/kubeconfig";
import { type Clock, systemClock } from "../clock";
import { EventRecorder } from "../controller/events";
import { createLogger, type Logger, type LogLevel } from "../log";
import { Health } from "./probe-server";

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
  /** What the process waits for, briefly, before it ends, such as leases being given back. */
  shutdown: Set<Promise<unknown>>;
}

export interface ContextOptions {
  /** Names the process in logs, events and the API server's audit log, such as `controller-manager`. */
  component: string;
  /** Path of a kubeconfig. Default: the service account of the pod. */
  kubeconfig?: string;
  signal: AbortSignal;
  /** Default: `info`. */
  logLevel?: LogLevel;
  log?: Logger;
  clock?: Clock;
  metrics?: Registry;
}

/** The context of a process, connected to its own cluster. Connects to nothing yet. */
export function createContext(options: ContextOptions): RuntimeContext {
  const { component, signal, clock = systemClock } = options;
  const log = options.log ?? createLogger({ level: options.logLevel, fields: { component } });
  const metrics = options.metrics ?? createRegistry();
  const client = connect(options.kubeconfig, { userAgent: `liqo-${component}`, metrics });
  const informers = new InformerSet(client, { log, clock, metrics });
  const health = new Health();
  health.addReadiness("caches", () => summarize(informers.problems()));
  const events = new EventRecorder({ client, component, clock, log });
  return { client, informers, log, clock, signal, metrics, health, events, shutdown: new Set() };
}

/** The first problem, and how many more there are; undefined where there is none. */
export function summarize(problems: string[]): string | undefined {
  const [first, ...more] = problems;
  return first === undefined || more.length === 0 ? first : `${first} (and ${more.length} more)`;
}

/** A client from a kubeconfig file or, without one, from the pod that we run in. */
export function connect(kubeconfig: string | undefined, options: ClientOptions = {}): KubeClient {
  if (kubeconfig === undefined) return KubeClient.inCluster(options);
  let text: string;
  try {
    text = readFileSync(kubeconfig, "utf8");
  } catch (error) {
    throw new KubeconfigError(kubeconfig, "", "cannot be read", { cause: error });
  }
  return KubeClient.fromKubeconfig(text, {
    ...options,
    source: kubeconfig,
    baseDirectory: dirname(kubeconfig),
  });
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
