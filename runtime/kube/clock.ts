/** Time, so that tests can hold it still. Nothing in the runtime asks the system for the time in any other way. */
export interface Clock {
  /** Wall clock, milliseconds since 1970. For time stamps; it may jump. */
  now(): number;
  /** Milliseconds that only ever grow. For durations and deadlines. */
  monotonic(): number;
  /** Calls back once after `ms`, unless cancelled before. */
  after(ms: number, callback: () => void): Timer;
}

export interface Timer {
  cancel(): void;
}

/** The machine's time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return { cancel: () => clearTimeout(timer) };
  },
};

/** Waits. Resolves early, without an error, when the signal is aborted. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const done = () => {
      timer.cancel();
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = clock.after(ms, done);
    signal?.addEventListener("abort", done, { once: true });
  });
}

/** RFC 3339 with whole seconds: Kubernetes `Time`. */
export function timestamp(clock: Clock): string {
  return new Date(clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
}

/** RFC 3339 with microseconds: Kubernetes `MicroTime`. */
export function microTimestamp(clock: Clock): string {
  return new Date(clock.now()).toISOString().replace(/(\.\d{3})Z$/, "$1000Z");
}

interface BackoffOptions {
  /** Delay after the first failure, in milliseconds. */
  firstMs: number;
  /** No delay is longer. */
  maxMs: number;
  /** For tests. Default: `Math.random`. */
  random?: () => number;
}

/**
 * How long to wait after the nth failure in a row: doubling from `firstMs` to `maxMs`, of which a random quarter is taken off, so that what failed
 * together does not come back together.
 *
 * @param failures 1 for the first
 */
export function backoffMs(
  failures: number,
  { firstMs, maxMs, random = Math.random }: BackoffOptions,
): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(30, Math.max(0, failures - 1)));
  return Math.max(firstMs, full * (1 - 0.25 * random()));
}
