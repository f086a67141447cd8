import { randomBytes } from "node:crypto";

import type { Registry } from "prom-client";

import type { KubeObject } from "../../api/meta";
import { isConflict } from "../client/api-error";
import type { Clock } from "../clock";
import { inReconcileScope, type Logger } from "../log";
import { ControllerMetrics, type ReconcileResult } from "./controller-metrics";
import type { EventRecorder } from "./events";
import { Queue } from "./queue";
import type { Source } from "./source";

/** When the key should come again although nothing changed; void: only when something changes. */
export type Outcome = void | { requeueAfterMs: number };

/** What one reconcile is given. */
export interface ReconcileRun {
  /** As every log within a reconcile, it carries the controller, the key and the reconcile's id in each line. */
  readonly log: Logger;
  /** Aborted when the controller stops. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** How often this key failed in a row before. */
  readonly failures: number;
}

export interface ControllerSpec {
  /** Names it in logs and metrics, such as `resource-slice-remote`. */
  name: string;
  /** Keys worked on at the same time; one key never twice. They cost nothing while they wait for answers. Default: 10. */
  workers?: number;
  sources: Source[];
  /** Caches that reconciles read without being told of their changes: they, too, have synced before the first one. */
  reads?: Pick<Source, "whenSynced">[];
  /** Level-triggered: it is given the key of an object, not what happened to it. An error is retried with the back-off of the key. */
  reconcile: (key: string, run: ReconcileRun) => Promise<Outcome>;
  /** The object of a key: a {@link Terminal} error is recorded as an event on it. */
  objectOf?: (key: string) => KubeObject | undefined;
}

/** The part of the runtime context that a controller needs. */
export interface ControllerContext {
  log: Logger;
  clock: Clock;
  signal: AbortSignal;
  metrics: Registry;
  events?: EventRecorder;
}

export interface Controller {
  readonly name: string;
  /** True once all sources have synced and reconciles run. */
  readonly started: boolean;
  /** Nothing waits, nothing runs. */
  readonly idle: boolean;
  /** For keys that come from elsewhere than the sources. */
  enqueue(key: string): void;
  enqueueAfter(key: string, ms: number): void;
  /** Begins no further reconcile and resolves when the running ones have ended. */
  stop(): Promise<void>;
}

/** Starts a controller: reconciles begin when all sources have synced. It stops with the context's signal. */
export function runController(spec: ControllerSpec, context: ControllerContext): Controller {
  return new RunningController(spec, context);
}

/** Of this process; a number a reconcile follows. */
const prefix = randomBytes(4).toString("hex");
let runs = 0;

class RunningController implements Controller {
  started = false;
  private readonly queue: Queue;
  private readonly metrics: ControllerMetrics;
  private readonly stopping = new AbortController();
  private readonly endSources: (() => void)[];
  private readonly running = new Set<Promise<void>>();
  private readonly workers: number;
  /** Since when each key has been worked on, on the monotonic clock. */
  private readonly begun = new Map<string, number>();
  private active = 0;
  private filling = false;

  constructor(
    private readonly spec: ControllerSpec,
    private readonly context: ControllerContext,
  ) {
    this.workers = spec.workers ?? 10;
    this.metrics = new ControllerMetrics(context.metrics, spec.name, {
      depth: () => this.queue.depth,
      active: () => this.active,
      underWayMs: () => [...this.begun.values()].map((begin) => context.clock.monotonic() - begin),
      workers: this.workers,
    });
    this.queue = new Queue({ clock: context.clock, observer: this.metrics });
    this.endSources = spec.sources.map((source) => source.start((key) => this.queue.add(key)));
    context.signal.addEventListener("abort", this.onAbort, { once: true });
    if (context.signal.aborted) this.onAbort();
    else this.begin();
  }

  get name(): string {
    return this.spec.name;
  }

  get idle(): boolean {
    return this.started && this.queue.empty;
  }

  enqueue(key: string): void {
    this.queue.add(key);
  }

  enqueueAfter(key: string, ms: number): void {
    this.queue.addAfter(key, ms);
  }

  async stop(): Promise<void> {
    this.context.signal.removeEventListener("abort", this.onAbort);
    this.stopping.abort();
    for (const end of this.endSources.splice(0)) end();
    this.queue.close();
    this.metrics.end();
    await Promise.all(this.running);
  }

  private readonly onAbort = () => void this.stop();

  private begin(): void {
    const { sources, reads = [] } = this.spec;
    Promise.all([...sources, ...reads].map((source) => source.whenSynced())).then(
      () => {
        if (this.stopping.signal.aborted) return;
        this.started = true;
        this.queue.onReady = () => this.fillSoon();
        this.fill();
      },
      (error: unknown) => {
        if (!this.stopping.signal.aborted)
          this.context.log.error("a source of the controller never synced", {
            controller: this.spec.name,
            error,
          });
      },
    );
  }

  /**
   * A key becomes ready while its cache still calls the other handlers. A reconcile that began at once would run before they know of the change and, the
   * first time, before the cache is marked as synced. So it begins in the next microtask.
   */
  private fillSoon(): void {
    if (this.filling) return;
    this.filling = true;
    queueMicrotask(() => {
      this.filling = false;
      this.fill();
    });
  }

  private fill(): void {
    while (this.active < this.workers && !this.stopping.signal.aborted) {
      const key = this.queue.take();
      if (key === undefined) return;
      this.active += 1;
      this.begun.set(key, this.context.clock.monotonic());
      const run = this.work(key).finally(() => {
        this.active -= 1;
        this.begun.delete(key);
        this.running.delete(run);
        this.queue.done(key);
        this.fill();
      });
      this.running.add(run);
    }
  }

  private async work(key: string): Promise<void> {
    const { clock, log } = this.context;
    const run: ReconcileRun = {
      log,
      clock,
      signal: this.stopping.signal,
      failures: this.queue.failuresOf(key),
    };
    const scope = { controller: this.spec.name, key, reconcileID: `${prefix}-${(runs += 1)}` };
    await inReconcileScope(scope, () => this.reconcile(key, run));
  }

  private async reconcile(key: string, run: ReconcileRun): Promise<void> {
    const begin = this.context.clock.monotonic();
    let result: ReconcileResult;
    try {
      const outcome = await this.spec.reconcile(key, run);
      this.queue.forget(key);
      if (outcome !== undefined) this.queue.addAfter(key, outcome.requeueAfterMs);
      result = outcome === undefined ? "success" : "requeue_after";
    } catch (error) {
      if (this.stopping.signal.aborted) return;
      result = this.failed(key, run, error);
    }
    this.metrics.record(result, this.context.clock.monotonic() - begin);
  }

  private failed(key: string, run: ReconcileRun, error: unknown): ReconcileResult {
    if (error instanceof Terminal) {
      this.queue.forget(key);
      run.log.error("reconcile needs a human", { reason: error.reason, error });
      const object = this.spec.objectOf?.(key);
      if (object !== undefined) this.context.events?.warning(object, error.reason, error.message);
      return "terminal";
    }
    const retryInMs = Math.round(this.queue.retry(key));
    // Somebody else wrote the object meanwhile. The retry reads the newer object from the cache.
    if (isConflict(error) && run.failures < 5)
      run.log.debug("reconcile met a newer object", { error, retryInMs });
    else run.log.warn("reconcile failed", { error, retryInMs });
    return "error";
  }
}

/**
 * A retry cannot help: a human must act. The reconcile is not retried until an object changes.
 *
 * `reason` is a word in CamelCase, the same as in the condition and in the event that it becomes; the message says what was seen, what is
 * expected and what to do.
 */
export class Terminal extends Error {
  override readonly name = "Terminal";

  constructor(
    readonly reason: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
