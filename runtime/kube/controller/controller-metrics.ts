import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** How a reconcile ended, in the field's words. `terminal` is counted as an error, and by itself. */
export type ReconcileResult = "success" | "requeue_after" | "error" | "terminal";

const RESULTS = ["success", "requeue", "requeue_after", "error"] as const;
const SECONDS = [0.001, 0.005, 0.025, 0.1, 0.5, 2, 10, 60];

/** What is read of a controller when somebody asks for the metrics. */
interface ControllerState {
  depth(): number;
  active(): number;
  /** For how long each of the reconciles under way has been, in milliseconds. */
  underWayMs(): number[];
  readonly workers: number;
}

/**
 * What is counted of each controller, under the names that dashboards of controllers know (control plane reference 18); all of it stands at zero
 * from the start. Controllers of one name, such as one for each peer, are counted together.
 */
export class ControllerMetrics {
  private readonly shared: SharedMetrics;

  constructor(
    metrics: Registry,
    private readonly controller: string,
    private readonly state: ControllerState,
  ) {
    this.shared = sharedMetrics(metrics);
    this.shared.begin(controller, state);
  }

  /** The controller has stopped: what waits in its queue is nobody's any more. */
  end(): void {
    this.shared.states.get(this.controller)?.delete(this.state);
  }

  record(result: ReconcileResult, ms: number): void {
    const { controller } = this;
    const failed = result === "error" || result === "terminal";
    this.shared.runs.inc({ controller, result: failed ? "error" : result });
    if (failed) this.shared.errors.inc({ controller });
    if (result === "terminal") this.shared.terminalErrors.inc({ controller });
    this.shared.seconds.observe({ controller }, ms / 1000);
    this.shared.workSeconds.observe({ name: controller }, ms / 1000);
  }

  added(): void {
    this.shared.adds.inc({ name: this.controller });
  }

  retried(): void {
    this.shared.retries.inc({ name: this.controller });
  }

  /** A key waited this long for its turn. */
  waited(ms: number): void {
    this.shared.queueSeconds.observe({ name: this.controller }, ms / 1000);
  }
}

/** The metrics of all controllers of a registry. */
class SharedMetrics {
  readonly states = new Map<string, Set<ControllerState>>();
  readonly runs: Counter;
  readonly errors: Counter;
  readonly terminalErrors: Counter;
  readonly seconds: Histogram;
  readonly adds: Counter;
  readonly retries: Counter;
  readonly queueSeconds: Histogram;
  readonly workSeconds: Histogram;

  constructor(metrics: Registry) {
    const registers = [metrics];
    const counter = (name: string, help: string, ...labelNames: string[]) =>
      new Counter({ name, help, labelNames, registers });
    const histogram = (name: string, help: string, label: string) =>
      new Histogram({ name, help, labelNames: [label], buckets: SECONDS, registers });
    this.runs = counter(
      "controller_runtime_reconcile_total",
      "Reconciles, by controller and result (success, requeue, requeue_after, error)",
      "controller",
      "result",
    );
    this.errors = counter(
      "controller_runtime_reconcile_errors_total",
      "Reconciles that failed, by controller",
      "controller",
    );
    this.terminalErrors = counter(
      "controller_runtime_terminal_reconcile_errors_total",
      "Reconciles that failed for good: only a human's change helps",
      "controller",
    );
    this.seconds = histogram(
      "controller_runtime_reconcile_time_seconds",
      "How long reconciles took, by controller",
      "controller",
    );
    this.adds = counter("workqueue_adds_total", "Keys that were put into the queue, by controller", "name");
    this.retries = counter(
      "workqueue_retries_total",
      "Keys that were put into the queue again after a failure, by controller",
      "name",
    );
    this.queueSeconds = histogram(
      "workqueue_queue_duration_seconds",
      "How long keys waited for their turn, by controller",
      "name",
    );
    this.workSeconds = histogram(
      "workqueue_work_duration_seconds",
      "How long keys were worked on, by controller",
      "name",
    );
    this.sum(metrics, "workqueue_depth", "Keys that wait, by controller", "name", (state) => state.depth());
    this.sum(
      metrics,
      "controller_runtime_active_workers",
      "Reconciles under way, by controller",
      "controller",
      (state) => state.active(),
    );
    this.sum(
      metrics,
      "workqueue_unfinished_work_seconds",
      "How long the reconciles under way have taken so far, added up, by controller",
      "name",
      (state) => state.underWayMs().reduce((sum, ms) => sum + ms, 0) / 1000,
    );
    this.gauge(
      metrics,
      "workqueue_longest_running_processor_seconds",
      "How long the longest of the reconciles under way has taken so far, by controller",
      "name",
      (states) => Math.max(0, ...states.flatMap((state) => state.underWayMs())) / 1000,
    );
    this.sum(
      metrics,
      "controller_runtime_max_concurrent_reconciles",
      "Reconciles that may be under way at a time, by controller",
      "controller",
      (state) => state.workers,
    );
  }

  begin(controller: string, state: ControllerState): void {
    const namesakes = this.states.get(controller);
    if (namesakes !== undefined) {
      namesakes.add(state);
      return;
    }
    this.states.set(controller, new Set([state]));
    for (const result of RESULTS) this.runs.inc({ controller, result }, 0);
    for (const errors of [this.errors, this.terminalErrors]) errors.inc({ controller }, 0);
    for (const count of [this.adds, this.retries]) count.inc({ name: controller }, 0);
    this.seconds.zero({ controller });
    for (const time of [this.queueSeconds, this.workSeconds]) time.zero({ name: controller });
  }

  private sum(
    metrics: Registry,
    name: string,
    help: string,
    label: string,
    read: (state: ControllerState) => number,
  ): void {
    this.gauge(metrics, name, help, label, (namesakes) =>
      namesakes.reduce((sum, state) => sum + read(state), 0),
    );
  }

  /** A gauge over the controllers of each name, read when somebody asks for it. */
  private gauge(
    metrics: Registry,
    name: string,
    help: string,
    label: string,
    read: (namesakes: ControllerState[]) => number,
  ): void {
    const { states } = this;
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [metrics],
      collect() {
        for (const [controller, namesakes] of states) this.set({ [label]: controller }, read([...namesakes]));
      },
    });
  }
}

const sharedOf = new WeakMap<Registry, SharedMetrics>();

function sharedMetrics(metrics: Registry): SharedMetrics {
  const known = sharedOf.get(metrics) ?? new SharedMetrics(metrics);
  sharedOf.set(metrics, known);
  return known;
}
