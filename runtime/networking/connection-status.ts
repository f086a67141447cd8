import type { Connection } from "../api";
import type { Reachability } from "../gateway/ping-session";

export type ConnectionStatus = NonNullable<Connection["status"]>;

/** Latency as a Connection shows it: whole milliseconds, or microseconds below one. */
export function formatLatency(ms: number): string {
  if (ms >= 1) return `${Math.floor(ms)}ms`;
  const microseconds = Math.floor(ms * 1000);
  // The letter is U+03BC, as upstream writes it.
  return microseconds > 0 ? `${microseconds}\u03bcs` : "N/A";
}

/** A latency is another one when it is half as long again, or as much shorter, and by this many milliseconds. */
const NOTABLE_MS = 5;

/**
 * The status that a Connection should have; undefined where the present one may stay: at rest it is never written. The state is told at once. A latency is
 * written with it, and again when the least of a minute has become notably another, at most once in the interval; each one is in the gateway's metrics. While
 * nothing is known yet, the state is `Connecting` (networking reference 10.4, which writes every latency that is older than the interval).
 *
 * A gateway that made its tunnel anew says once itself that packets pass, where its predecessor left `Connected`: whoever has changed the tunnel sees
 * that it is the new one that works.
 *
 * @param now wall clock, milliseconds
 * @param confirmed whether what is told is told of the present tunnel
 */
export function connectionStatus(
  reachability: Reachability,
  present: ConnectionStatus | undefined,
  now: number,
  refreshIntervalMs: number,
  confirmed = true,
): ConnectionStatus | undefined {
  switch (reachability.state) {
    case "unknown":
      return present?.value ? undefined : { value: "Connecting" };
    case "waiting":
      return present?.value === "Connecting" ? undefined : { value: "Connecting", latency: { value: "N/A" } };
    case "lost":
      return present?.value === "Error" ? undefined : { value: "Error", latency: { value: "N/A" } };
    case "connected": {
      if (present?.value !== "Connected") return connected(reachability.latencyMs, now);
      if (!confirmed) return connectedStill(present, reachability.latencyMs, now);
      const { leastMs } = reachability;
      if (leastMs === undefined) return undefined;
      const since = Date.parse(present.latency?.timestamp ?? "");
      if (Math.abs(now - since) <= refreshIntervalMs) return undefined;
      const written = parseLatency(present.latency?.value ?? "");
      return written !== undefined && !isNotable(written, leastMs) ? undefined : connected(leastMs, now);
    }
  }
}

function connected(latencyMs: number, now: number): ConnectionStatus {
  return {
    value: "Connected",
    latency: {
      value: formatLatency(latencyMs),
      timestamp: new Date(now).toISOString().replace(/\.\d+Z$/, "Z"),
    },
  };
}

/** The latency stays: the first answer of a gateway waits for the handshake. */
function connectedStill({ latency }: ConnectionStatus, ms: number, now: number): ConnectionStatus {
  const fresh = connected(ms, now);
  return { ...fresh, latency: { ...fresh.latency, ...(latency?.value && { value: latency.value }) } };
}

function isNotable(beforeMs: number, nowMs: number): boolean {
  const [less, more] = beforeMs < nowMs ? [beforeMs, nowMs] : [nowMs, beforeMs];
  return more - less >= NOTABLE_MS && more >= less * 1.5;
}

/** Milliseconds of what {@link formatLatency} wrote; undefined where it is something else. */
export function parseLatency(text: string): number | undefined {
  const [, digits, unit] = /^(\d+)(ms|[\u03bc\u00b5]s)$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  return unit === "ms" ? Number(digits) : Number(digits) / 1000;
}
