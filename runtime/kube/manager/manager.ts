import { readFileSync } from "node:fs";
import { dirname } from "node:path";

import type { Registry } from "prom-client";

import { InformerSet } from "../cache/informer-set";
import { KubeClient } from "../client/client";
import type { ClientOptions } from "../client/client-options";
import { KubeconfigError } from "../client/kubeconfig";
import { type Clock, sleep, systemClock } from "../clock";
import { EventRecorder } from "../controller/events";
import { createLogger, type Logger } from "../log";
import { createRegistry, type RuntimeContext, summarize } from "./context";
import { Elections } from "./elections";
import { Health, type ProbeServer, startProbeServer } from "./probe-server";

export interface ManagerOptions {
  /** Names the process in logs, events and the API server's audit log, such as `controller-manager`. */
  component: string;
  /** Path of a kubeconfig. Default: the service account of the pod. */
  kubeconfig?: string;
  /** Aborted when the process is to end. */
  signal: AbortSignal;
  /** `host:port` or `:port` of `/metrics`. Default: not served. */
  metricsAddress?: string;
  /** `host:port` or `:port` of `/healthz`, `/livez` and `/readyz`. Default: not served. */
  healthProbeAddress?: string;
  log?: Logger;
  clock?: Clock;
  metrics?: Registry;
  /** Ends the process at once. Default: `process.exit`. */
  exit?: (status: number) => void;
}

/** Starts a part of the process and resolves once it is under way; it goes on until the context's signal is aborted. */
export type Start = (context: RuntimeContext) => Promise<void>;

/** For last answers to arrive, after the end was asked for. */
const GOODBYE_MS = 500;
/** For leases to be given back, and for what else must be over before the process ends. */
const SHUTDOWN_MS = 5_000;
const HARD_EXIT_MS = 10_000;

/** Owns what a process has once: the client of its cluster, its caches, elections, probes, metrics and its end. */
export class Manager {
  readonly context: RuntimeContext;
  private readonly exit: (status: number) => void;

  /** Connects to nothing yet. Throws `KubeconfigError` naming what is wrong. */
  constructor(private readonly options: ManagerOptions) {
    const { component, signal, clock = systemClock, metrics = createRegistry() } = options;
    this.exit = options.exit ?? ((status) => process.exit(status));
    const log = options.log ?? createLogger({ fields: { component } });
    const client = connect(options.kubeconfig, { userAgent: `liqo-${component}`, metrics });
    const informers = new InformerSet(client, { log, clock, metrics });
    const health = new Health();
    health.addReadiness("caches", () => summarize(informers.problems()));
    const events = new EventRecorder({ client, component, clock, log });
    const parts = {
      client,
      informers,
      log,
      clock,
      signal,
      metrics,
      health,
      events,
      shutdown: new Set<Promise<unknown>>(),
    };
    this.context = { ...parts, elections: new Elections(parts, this.exit) };
  }

  /**
   * Serves probes and metrics, starts the parts one after another, and goes on until the signal is aborted. Then it ends in order: leases are given
   * back, watches stop, servers and connections close. A start that hangs is not waited for.
   *
   * @throws what a part throws that cannot start, or where an address cannot be had
   */
  async run(starts: readonly Start[]): Promise<void> {
    const { context } = this;
    const { log, signal } = context;
    const toldToEnd = aborted(signal);
    const servers = await this.serve();
    await Promise.race([this.startAll(starts), toldToEnd]);
    if (!signal.aborted) log.info("started", { pid: process.pid });
    await toldToEnd;
    log.info("ending");
    setTimeout(() => this.exit(0), HARD_EXIT_MS).unref();
    await Promise.all([sleep(context.clock, GOODBYE_MS), untilShutDown(context)]);
    await Promise.all([context.informers.stop(), ...servers.map((server) => server.close())]);
    context.elections.close();
    context.client.close();
  }

  private async startAll(starts: readonly Start[]): Promise<void> {
    for (const start of starts) {
      if (this.context.signal.aborted) return;
      await start(this.context);
    }
  }

  private async serve(): Promise<ProbeServer[]> {
    const { health, metrics } = this.context;
    const { metricsAddress = "", healthProbeAddress = "" } = this.options;
    if (metricsAddress === healthProbeAddress) {
      return metricsAddress === ""
        ? []
        : [await startProbeServer({ address: metricsAddress, health, metrics })];
    }
    return await Promise.all([
      ...(metricsAddress === "" ? [] : [startProbeServer({ address: metricsAddress, metrics })]),
      ...(healthProbeAddress === "" ? [] : [startProbeServer({ address: healthProbeAddress, health })]),
    ]);
  }
}

/** Waits for what must be over before the process ends: five seconds at most, and without a timer left behind that would keep the process. */
export async function untilShutDown({
  shutdown,
  clock,
}: Pick<RuntimeContext, "clock"> & { shutdown: Iterable<Promise<unknown>> }): Promise<void> {
  const done = new AbortController();
  await Promise.race([Promise.allSettled(shutdown), sleep(clock, SHUTDOWN_MS, done.signal)]);
  done.abort();
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** A client from a kubeconfig file or, without one, from the pod that we run in. */
function connect(kubeconfig: string | undefined, options: ClientOptions): KubeClient {
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
