import { Counter, Histogram, type Registry } from "prom-client";

import type { Answer } from "./server";

/** Counts and times the answers of the webhooks, by path and code. */
export function webhookMetrics(registry: Registry): (answer: Answer) => void {
  const requests = new Counter({
    name: "controller_runtime_webhook_requests_total",
    help: "Admission requests, by webhook (its path) and status code of the answer",
    labelNames: ["webhook", "code"],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: "controller_runtime_webhook_latency_seconds",
    help: "Time that an admission webhook took to decide, by webhook (its path)",
    labelNames: ["webhook"],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5],
    registers: [registry],
  });
  return ({ path, verdict, seconds: taken }) => {
    requests.inc({ webhook: path, code: String(verdict.allowed ? 200 : verdict.code) });
    seconds.observe({ webhook: path }, taken);
  };
}
