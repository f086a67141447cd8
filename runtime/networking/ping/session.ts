import type { Clock } from "../../kube";
import { messageTime, nanoseconds, type PingMessage } from "./message";

export interface PingOptions {
  /** The cluster that is probed. */
  peer: string;
  /** Between two pings, and before the first one. Default: 2 s. */
  intervalMs?: number;
  /** Pings without an answer until the tunnel counts as down. Default: 5. */
  lossThreshold?: number;
}

/** What the pings say about a tunnel. Unknown until the first answer, or until too many have failed to come. */
export type Reachability =
  | { state: "unknown" }
  | {
      state: "connected";
      /** Of the last answer. */
      latencyMs: number;
      /** Of the fastest of the last answers, which is what the path takes without what else keeps machines busy; undefined while they are too few. */
      leastMs?: number;
    }
  | { state: "lost" }
  /** A step before the first ping is missing, and was for some time. */
  | { state: "waiting" };

/** Answers that are looked at together: a minute of them by default. */
const RECENT = 30;
/** Fewer tell nothing: the first of a session waits for the handshake, and one slow answer is no change. */
const ENOUGH = 15;

/** What became of an answer. */
export type PongOutcome = "accepted" | "other cluster" | "not asked" | "late";

/**
 * One side's view of a tunnel: which pings are under way, when the last answer came, how long it took.
 *
 * Times are measured on the monotonic clock between sending and receiving, so a wall clock that jumps changes nothing, and an answer counts only to a
 * ping that was sent: a stranger who reaches the port cannot make a dead tunnel look alive.
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
