import type { Connection } from "../api";

/**
 * The status of a Connection, whoever writes it: the gateway's process, which pings the peer, and the controller manager, which sees that the
 * gateway does not run. Both write what {@link connectionStatus} decides, and nothing else decides it.
 */

type ConnectionStatus = NonNullable<Connection["status"]>;

/** What the pings say about a tunnel. Unknown until the first answer, or until too many have failed to come. */
export type Reachability =
  | { state: "unknown" }
  | {
      state: "connected";
      /** Of the last answer, in milliseconds. */
      latencyMs: number;
      /** Of the fastest of the last answers, in milliseconds: what the path takes while the machines are idle. Undefined while they are too few. */
      leastMs?: number;
    }
  | { state: "lost" }
  /** A step before the first ping is missing, and was for some time. */
  | { state: "waiting" };

/** What is observed of a tunnel. */
export type TunnelObservation =
  | Reachability
  /** The tunnel is set up, and nobody pings. */
  | { state: "configured" }
  /** No replica of the gateway has been ready for some time. */
  | { state: "gatewayDown" };

/**
 * A status with each of its fields but `observedGeneration`, which the client writes. Undefined leaves a field as it is. A field that the schema
 * gets is missing here until each observation decides it, and the compiler says so.
 */
export type DecidedStatus = {
  [Field in Exclude<keyof ConnectionStatus, "observedGeneration">]: ConnectionStatus[Field];
};

interface ConnectionStatusOptions {
  /** Wall clock, in milliseconds. */
  now: number;
  /** A latency is written at most once in this time. */
  refreshIntervalMs: number;
  /** Whether this process has already reported that packets pass through its present tunnel. Default: true. */
  confirmed?: boolean;
}

/**
 * The status that a Connection should have; undefined where the present one may stay. A tunnel at rest is never written.
 *
 * A change of the state is written at once. A latency is written with it, and again when the least of a minute has changed notably, at most once in
 * the interval; the gateway's metrics have each one. While nothing is known yet, the state is `Connecting` (networking reference 10.4, which writes
 * every latency that is older than the interval).
 *
 * A gateway with a new tunnel writes once itself that packets pass, even where its predecessor left `Connected`: whoever has changed the tunnel sees
 * that the new one works.
 */
export function connectionStatus(
  observation: TunnelObservation,
  present: ConnectionStatus | undefined,
  { now, refreshIntervalMs, confirmed = true }: ConnectionStatusOptions,
): DecidedStatus | undefined {
  switch (observation.state) {
    case "unknown":
      return present?.value ? undefined : { value: "Connecting", latency: undefined };
    case "waiting":
      return present?.value === "Connecting" ? undefined : { value: "Connecting", latency: NO_LATENCY };
    case "configured":
      return { value: "Connected", latency: undefined };
    case "lost":
      return present?.value === "Error" ? undefined : { value: "Error", latency: NO_LATENCY };
    case "gatewayDown":
      // The gateway itself writes the other states, and is not there to take this one back.
      return present?.value === "Connected" ? { value: "Error", latency: NO_LATENCY } : undefined;
    case "connected": {
      if (present?.value !== "Connected") return connected(observation.latencyMs, now);
      if (!confirmed) return stillConnected(present, observation.latencyMs, now);
      const { leastMs } = observation;
      if (leastMs === undefined) return undefined;
      const since = Date.parse(present.latency?.timestamp ?? "");
      if (Math.abs(now - since) <= refreshIntervalMs) return undefined;
      const written = parseLatency(present.latency?.value ?? "");
      return written !== undefined && !isNotable(written, leastMs) ? undefined : connected(leastMs, now);
    }
  }
}

const NO_LATENCY = { value: "N/A" };

function connected(latencyMs: number, now: number): DecidedStatus {
  return {
    value: "Connected",
    latency: {
      value: formatLatency(latencyMs),
      timestamp: new Date(now).toISOString().replace(/\.\d+Z$/, "Z"),
    },
  };
}

/** The latency stays: the first answer that a gateway gets waits for the handshake. */
function stillConnected({ latency }: ConnectionStatus, ms: number, now: number): DecidedStatus {
  const fresh = connected(ms, now);
  return { ...fresh, latency: { ...fresh.latency, ...(latency?.value && { value: latency.value }) } };
}

/** A latency has changed when it is half as long again, or as much shorter, and by this many milliseconds. */
const NOTABLE_MS = 5;

function isNotable(beforeMs: number, nowMs: number): boolean {
  const [less, more] = beforeMs < nowMs ? [beforeMs, nowMs] : [nowMs, beforeMs];
  return more - less >= NOTABLE_MS && more >= less * 1.5;
}

/** Latency as a Connection shows it: whole milliseconds, or microseconds below one. */
export function formatLatency(ms: number): string {
  if (ms >= 1) return `${Math.floor(ms)}ms`;
  const microseconds = Math.floor(ms * 1000);
  // The letter is U+03BC, as upstream writes it.
  return microseconds > 0 ? `${microseconds}\u03bcs` : "N/A";
}

/** Milliseconds of what {@link formatLatency} wrote; undefined where it is something else. */
export function parseLatency(text: string): number | undefined {
  const [, digits, unit] = /^(\d+)(ms|[\u03bc\u00b5]s)$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  return unit === "ms" ? Number(digits) : Number(digits) / 1000;
}
