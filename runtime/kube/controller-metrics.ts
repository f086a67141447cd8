import { Counter, Gauge, Histogram, type Registry } from "prom-client";

const RESULTS = ["success", "requeue", "error", "terminal"] as const;
export type ReconcileResult = (typeof RESULTS)[number];

/** What is counted of each controller; all of it stands at zero from the start. */
export class ControllerMetrics {
  private readonly runs: Counter;
  private readonly seconds: Histogram;

  constructor(
    metrics: Registry,
    private readonly controller: string,
    depth: () => number,
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
    depths(metrics).set(controller, depth);
    for (const result of RESULTS) this.runs.inc({ controller, result }, 0);
    this.seconds.zero({ controller });
  }

  record(result: ReconcileResult, ms: number): void {
    this.runs.inc({ controller: this.controller, result });
    this.seconds.observe({ controller: this.controller }, ms / 1000);
  }
}

const depthsOf = new WeakMap<Registry, Map<string, () => number>>();

/** Depths are read when somebody asks for the metrics. */
function depths(metrics: Registry): Map<string, () => number> {
  let known = depthsOf.get(metrics);
  if (known !== undefined) return known;
  const all = new Map<string, () => number>();
  known = all;
  depthsOf.set(metrics, all);
  new Gauge({
    name: "liqo_queue_depth",
    help: "Keys that wait to be reconciled",
    labelNames: ["controller"],
    registers: [metrics],
    collect() {
      for (const [controller, depth] of all) this.set({ controller }, depth());
    },
  });
  return known;
}

function once<M extends Counter | Histogram>(metrics: Registry, name: string, make: (name: string) => M): M {
  // The name decides the type of what is registered under it.
  return (metrics.getSingleMetric(name) as M | undefined) ?? make(name);
}
