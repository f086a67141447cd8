import { Histogram, type Registry } from "prom-client";

import type { Answer } from "./server";

/** Counts and times the answers of the webhooks, by path and outcome. */
export function webhookMetrics(registry: Registry): (answer: Answer) => void {
  const seconds = new Histogram({
    name: "liqo_webhook_seconds",
    help: "Time that an admission webhook took to decide, by path and outcome (allowed, denied, error)",
    labelNames: ["path", "outcome"],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5],
    registers: [registry],
  });
  return ({ path, verdict, seconds: taken }) => {
    const outcome = verdict.allowed ? "allowed" : verdict.code === 403 ? "denied" : "error";
    seconds.observe({ path, outcome }, taken);
  };
}
