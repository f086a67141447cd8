import { ApiError, isGone } from "../client/api-error";
import { backoffMs } from "../clock";
import { IdleWatchError } from "./watch-stream";

/** A watch that stays open for so long, in milliseconds, counts as healthy. */
export const LASTING_MS = 5_000;

/** How an attempt to watch ended. */
export interface WatchEnd {
  /**
   * `ended`: by the server, in an orderly way. `gone`: its history is (410). `cut`: the network broke it after the server had accepted it.
   * `failed`: refused, unreachable, or not what a watch is.
   */
  how: "ended" | "gone" | "cut" | "failed";
  /** For how long it was open. */
  openMs: number;
  /** Whether the server gave an answer, if only a refusal. */
  answered?: boolean;
  /** Whether the server said no to us (403). */
  forbidden?: boolean;
  /** How long the server asks us to wait, in milliseconds. */
  askedMs?: number;
}

export interface Next {
  delayMs: number;
  /** How many watches in a row did not last, where that is why there is no watch. */
  short?: number;
}

/** After cuts in a row: many watches are cut together, and each waits for a random part of it. */
const CUT = { firstMs: 100, maxMs: 5_000 };
/** After cuts in a row of watches that did not last, though they had something to tell. */
const CUT_TELLING = { firstMs: 100, maxMs: 400 };
/** After watches in a row that did not last. */
const SHORT = { firstMs: 200, maxMs: 30_000 };
const FAILED = { firstMs: 800, maxMs: 30_000 };
/** A refusal costs the server little, and rights are mostly given a moment later: by another controller, or another cluster. */
const FORBIDDEN = { firstMs: 200, maxMs: 5_000 };
/** A bad network cuts as often in a row, and is no fault of the server's. */
const CUTS_ALLOWED = 5;
/** No server is obeyed that asks for longer. */
const MAX_ASKED_MS = 300_000;

/**
 * Decides when the next watch starts.
 *
 * After a watch that lasted it starts at once, and so it does the first time that the history is gone. After several short watches in a row the delay
 * doubles, whatever events they delivered.
 */
export class WatchBackoff {
  private failures = 0;
  /** Whether the last failure was one without an answer. */
  private unreachable = false;
  /** Cuts without an event since. */
  private cuts = 0;
  /** Watches in a row that did not last, by the server's doing. */
  private short = 0;
  /** The same by the network's, as far as one can tell. */
  private shortCuts = 0;

  constructor(private readonly random: () => number = Math.random) {}

  /** Whether watches end so soon that another one says nothing yet. */
  get flapping(): boolean {
    return this.short > 2;
  }

  /** A whole list came, or an event. */
  succeeded(): void {
    this.failures = 0;
    this.cuts = 0;
  }

  /** The present watch is open for {@link LASTING_MS}. */
  lasted(): void {
    this.short = 0;
    this.shortCuts = 0;
  }

  after({ how, openMs, forbidden = false, answered = forbidden, askedMs = 0 }: WatchEnd): Next {
    if (openMs >= LASTING_MS) this.lasted();
    else if (how === "cut") this.shortCuts += 1;
    else if (how !== "failed" || openMs > 0) this.short += 1;
    const { short, random } = this;
    const backoff = (failures: number, of: { firstMs: number; maxMs: number }) =>
      backoffMs(failures, { ...of, random });
    switch (how) {
      case "ended":
        return short === 0 ? { delayMs: 0 } : { delayMs: backoff(short, SHORT), ...(short > 1 && { short }) };
      case "gone":
        return short <= 1 ? { delayMs: 0 } : { delayMs: backoff(short - 1, SHORT), short };
      case "cut": {
        this.failures = 0;
        this.cuts += 1;
        const tooMany = this.shortCuts - CUTS_ALLOWED;
        const pause = Math.max(backoff(this.cuts, CUT), backoff(tooMany, CUT_TELLING));
        return { delayMs: pause * random(), ...(tooMany > 0 && { short: this.shortCuts }) };
      }
      case "failed": {
        // The back-off of the time that the server was unreachable does not count once it answers again.
        this.failures = answered && this.unreachable ? 1 : this.failures + 1;
        this.unreachable = !answered;
        const pause = backoff(
          Math.max(this.failures, openMs > 0 ? short : 0),
          forbidden ? FORBIDDEN : FAILED,
        );
        return { delayMs: Math.max(pause, Math.min(MAX_ASKED_MS, askedMs)) };
      }
    }
  }
}

/** Why a watch was started again. */
export type RestartReason = "ended" | "gone" | "idle" | "refused" | "lost";

export function restartReason(error: unknown): RestartReason {
  if (isGone(error) || (error instanceof ApiError && isTooLargeVersion(error))) return "gone";
  if (error instanceof IdleWatchError) return "idle";
  return error instanceof ApiError ? "refused" : "lost";
}

/** The server's history is behind ours: it was restored from a backup, or it is another cluster by now. */
function isTooLargeVersion(error: ApiError): boolean {
  return error.details.causes.some((cause) => cause.reason === "ResourceVersionTooLarge");
}

/** An older server refuses the parameter (400, 422), or ignores it and never sends the end mark. */
export function refusesStreaming(error: unknown): boolean {
  if (error instanceof IdleWatchError) return true;
  return error instanceof ApiError && [400, 405, 422].includes(error.status);
}
