import type { Connection } from "../../api";
import type { Reachability } from "./session";

export type ConnectionStatus = NonNullable<Connection["status"]>;

/** Latency as a Connection shows it: whole milliseconds, or microseconds below one. */
export function formatLatency(ms: number): string {
  if (ms >= 1) return `${Math.floor(ms)}ms`;
  const microseconds = Math.floor(ms * 1000);
  // The letter is U+03BC, as upstream writes it.
  return microseconds > 0 ? `${microseconds}\u03bcs` : "N/A";
}

/**
 * The status that a Connection should have; undefined where the present one may stay: it says the same, and its latency is not older than the
 * interval. While nothing is known yet, it is `Connecting` (networking reference 10.4).
 *
 * @param now wall clock, milliseconds
 */
export function connectionStatus(
  reachability: Reachability,
  present: ConnectionStatus | undefined,
  now: number,
  refreshIntervalMs: number,
): ConnectionStatus | undefined {
  switch (reachability.state) {
    case "unknown":
      return present?.value ? undefined : { value: "Connecting" };
    case "lost":
      return present?.value === "Error" ? undefined : { value: "Error", latency: { value: "N/A" } };
    case "connected": {
      const since = Date.parse(present?.latency?.timestamp ?? "");
      const fresh = Math.abs(now - since) <= refreshIntervalMs;
      if (present?.value === "Connected" && fresh) return undefined;
      return {
        value: "Connected",
        latency: {
          value: formatLatency(reachability.latencyMs),
          timestamp: new Date(now).toISOString().replace(/\.\d+Z$/, "Z"),
        },
      };
    }
  }
}
