import { z } from "zod";

import type { Clock } from "../kube";
import type { Reachability } from "../networking/connection-status";

/**
 * The probe that two gateways send each other through the tunnel, over UDP: part of the wire contract (networking reference 10.4). A ping
 * names the cluster that is probed, not the one that asks; a pong is the ping with another type.
 */
export interface PingMessage {
  clusterID: string;
  msgType: "PING" | "PONG";
  /** RFC 3339 with up to nine digits of a second. Peers send back the same time, not always in the same digits. */
  timeStamp: string;
}

/** Bytes that a message has at most. */
export const LONGEST_MESSAGE = 1024;

const message = z.object({
  clusterID: z.string(),
  msgType: z.enum(["PING", "PONG"]),
  timeStamp: z.string().refine((text) => nanoseconds(text) !== undefined),
});

export function encodeMessage({ clusterID, msgType, timeStamp }: PingMessage): Buffer {
  return Buffer.from(JSON.stringify({ clusterID, msgType, timeStamp }));
}

/** Reads a datagram; undefined where it is no message of this protocol. */
export function decodeMessage(datagram: Uint8Array): PingMessage | undefined {
  if (datagram.length > LONGEST_MESSAGE) return undefined;
  let content: unknown;
  try {
    content = JSON.parse(Buffer.from(datagram).toString("utf8"));
  } catch {
    return undefined;
  }
  return message.safeParse(content).data;
}

/** The answer to a ping: the time as it came, to the last digit. */
export function pongTo(ping: PingMessage): PingMessage {
  return { ...ping, msgType: "PONG" };
}

/** A wall-clock time in milliseconds as messages carry it. */
export function messageTime(ms: number): string {
  return new Date(ms).toISOString().replace(/Z$/, "000000Z");
}

/** Nanoseconds since 1970 of a time in a message, whatever its zone and number of digits; undefined where it is no time. */
export function nanoseconds(timeStamp: string): bigint | undefined {
  const parts = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/.exec(timeStamp);
  if (parts === null) return undefined;
  const [, seconds = "", fraction = "", zone = ""] = parts;
  const ms = Date.parse(seconds + zone);
  // Days and hours that there are not, such as 30 February, would count on into the next ones.
  const exists = new Date(Date.parse(`${seconds}Z`)).toJSON()?.startsWith(seconds) === true;
  return Number.isNaN(ms) || !exists ? undefined : BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, "0"));
}

export interface PingOptions {
  /** The cluster that is probed. */
  peer: string;
  /** Between two pings, and before the first one. Default: 2 s. */
  intervalMs?: number;
  /** Pings without an answer until the tunnel counts as down. Default: 5. */
  lossThreshold?: number;
}

/** Answers that are looked at together: a minute of them by default. */
const RECENT = 30;
/** Fewer tell nothing: the first of a session waits for the handshake, and one slow answer is no change. */
const ENOUGH = 15;

/** What became of an answer. */
type PongOutcome = "accepted" | "other cluster" | "not asked" | "late";

/**
 * One side's view of a tunnel: which pings are under way, when the last answer came, how long it took.
 *
 * Times are measured on the monotonic clock between sending and receiving, so a wall clock that jumps changes nothing, and an answer counts only to a
 * ping that was sent: others who reach the port cannot make a dead tunnel look alive.
 */
export class PingSession {
  readonly intervalMs: number;
  /** How often {@link observe} should look: ten times within the time that a tunnel may be silent. */
  readonly observeEveryMs: number;
  private readonly silenceMs: number;
  private readonly sent = new Map<bigint, number>();
  /** Of the pings that were answered, when the last one went out. */
  private lastSentAt = Number.NEGATIVE_INFINITY;
  private heardAt: number;
  /** Of the last answers, the newest last. */
  private latencies: number[] = [];
  private lost = false;

  constructor(
    private readonly options: PingOptions,
    private readonly clock: Clock,
  ) {
    this.intervalMs = options.intervalMs ?? 2_000;
    this.silenceMs = this.intervalMs * (options.lossThreshold ?? 5);
    this.observeEveryMs = this.silenceMs / 10;
    this.heardAt = clock.monotonic();
  }

  get reachability(): Reachability {
    if (this.lost) return { state: "lost" };
    const latencyMs = this.latencies.at(-1);
    if (latencyMs === undefined) return { state: "unknown" };
    const isEnough = this.latencies.length >= ENOUGH;
    return { state: "connected", latencyMs, ...(isEnough && { leastMs: Math.min(...this.latencies) }) };
  }

  /** The next ping to send; call it when it goes out. */
  ping(): PingMessage {
    const now = this.clock.monotonic();
    for (const [time, at] of this.sent) if (now - at > this.silenceMs) this.sent.delete(time);
    let ms = this.clock.now();
    let timeStamp = messageTime(ms);
    // Two pings within a millisecond, or a wall clock set back, must not look like one.
    while (this.sent.has(nanoseconds(timeStamp) ?? 0n)) timeStamp = messageTime((ms += 1));
    this.sent.set(nanoseconds(timeStamp) ?? 0n, now);
    return { clusterID: this.options.peer, msgType: "PING", timeStamp };
  }

  /** Takes an answer. */
  pong(message: PingMessage): PongOutcome {
    if (message.clusterID !== this.options.peer) return "other cluster";
    const time = nanoseconds(message.timeStamp);
    const sentAt = time === undefined ? undefined : this.sent.get(time);
    if (time === undefined || sentAt === undefined) return "not asked";
    this.sent.delete(time);
    if (sentAt < this.lastSentAt) return "late";
    this.lastSentAt = sentAt;
    this.heardAt = this.clock.monotonic();
    this.latencies.push(this.heardAt - sentAt);
    if (this.latencies.length > RECENT) this.latencies.shift();
    this.lost = false;
    return "accepted";
  }

  /** Looks whether the tunnel has been silent for too long. */
  observe(): void {
    if (this.clock.monotonic() - this.heardAt <= this.silenceMs) return;
    this.lost = true;
    this.latencies = [];
  }
}
