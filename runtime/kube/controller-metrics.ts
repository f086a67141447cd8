import { Counter, Gauge, Histogram, type Registry } from "prom-client";

const RESULTS = ["success", "requeue", "error", "terminal"] as const;
export type ReconcileResult = (typeof RESULTS)[number];

/**
 * What is counted of each controller; all of it stands at zero from the start. Controllers of one name, such as one for each peer, are counted
 * together.
 */
export class ControllerMetrics {
  private readonly runs: Counter;
  private readonly seconds: Histogram;
  private readonly depths: Depths;

  constructor(
    metrics: Registry,
    private readonly controller: string,
    private readonly depth: () => number,
  ) {
    this.runs = once(
      metrics,
      "liqo_reconcile_total",
      (name) =>
        new Counter({
          name,
          help: "Reconciles, by controller and result",
          labelNames: ["controller", "result"],
          registers: [metrics],
        }),
    );
    this.seconds = once(
      metrics,
      "liqo_reconcile_duration_seconds",
      (name) =>
        new Histogram({
          name,
          help: "How long reconciles took",
          labelNames: ["controller"],
          buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2, 10, 60],
          registers: [metrics],
        }),
    );
    this.depths = depths(metrics);
    const namesakes = this.depths.get(controller);
    if (namesakes !== undefined) {
      namesakes.add(depth);
      return;
    }
    this.depths.set(controller, new Set([depth]));
    for (const result of RESULTS) this.runs.inc({ controller, result }, 0);
    this.seconds.zero({ controller });
  }

  /** The controller has stopped: what waits in its queue is nobody's any more. */
  end(): void {
    this.depths.get(this.controller)?.delete(this.depth);
  }

  record(result: ReconcileResult, ms: number): void {
    this.runs.inc({ controller: this.controller, result });
    this.seconds.observe({ controller: this.controller }, ms / 1000);
  }
}

/** By the name of controllers. */
type Depths = Map<string, Set<() => number>>;

const depthsOf = new WeakMap<Registry, Depths>();

/** Depths are read when somebody asks for the metrics. */
function depths(metrics: Registry): Depths {
  let known = depthsOf.get(metrics);
  if (known !== undefined) return known;
  const all: Depths = new Map();
  known = all;
  depthsOf.set(metrics, all);
  new Gauge({
    name: "liqo_queue_depth",
    help: "Keys that wait to be reconciled",
    labelNames: ["controller"],
    registers: [metrics],
    collect() {
      for (const [controller, namesakes] of all) {
        let sum = 0;
        for (const depth of namesakes) sum += depth();
        this.set({ controller }, sum);
      }
    },
  });
  return known;
}

function once<M extends Counter | Histogram>(metrics: Registry, name: string, make: (name: string) => M): M {
  // The name decides the type of what is registered under it.
  return (metrics.getSingleMetric(name) as M | undefined) ?? make(name);
}
