import { Counter, type Registry } from "prom-client";

const NAME = "rest_client_requests_total";

/** Counts requests to API servers under the name that dashboards know; code `<error>` where there was no answer. */
export function requestCounter(
  metrics: Registry | undefined,
  host: string,
): (method: string, code: number | "<error>") => void {
  if (metrics === undefined) return () => undefined;
  const known = metrics.getSingleMetric(NAME);
  const counter =
    known instanceof Counter
      ? known
      : new Counter({
          name: NAME,
          help: "Requests to API servers, by status code, method and host",
          labelNames: ["code", "method", "host"],
          registers: [metrics],
        });
  return (method, code) => counter.inc({ code: String(code), method, host });
}
