import { backoffMs, type Clock, type Timer } from "../clock";

export interface QueueOptions {
  clock: Clock;
  /** After the first failure of a key, in milliseconds. Default: 5. */
  firstRetryMs?: number;
  /** No retry waits longer. Default: 60,000. */
  maxRetryMs?: number;
  /** For tests. Default: `Math.random`. */
  random?: () => number;
  /** Told of what passes through. */
  observer?: QueueObserver;
}

interface QueueObserver {
  added(): void;
  retried(): void;
  /** A key waited this many milliseconds for its turn. */
  waited(ms: number): void;
}

/**
 * Keys that wait for their turn.
 *
 * A key stands in it once, however often it is added. A key that is being worked on is not handed out a second time: added meanwhile, it comes again after
 * `done`. Delays (retries, `addAfter`) keep the earliest time asked for, and end when the key's turn comes: what is to come
 * again is asked for anew by whoever did the work.
 */
export class Queue {
  private waiting: string[] = [];
  private head = 0;
  /** Since when, on the monotonic clock. */
  private readonly queued = new Map<string, number>();
  private readonly working = new Set<string>();
  /** Added while being worked on. */
  private readonly dirty = new Set<string>();
  private readonly delayed = new Map<string, { at: number; timer: Timer }>();
  private readonly failures = new Map<string, number>();
  private closed = false;

  /** Called whenever a key became ready. */
  onReady: () => void = () => undefined;

  constructor(private readonly options: QueueOptions) {}

  /** Keys that are ready; those that wait for a delay are not counted. */
  get depth(): number {
    return this.queued.size;
  }

  /** Nothing ready, nothing being worked on, nothing delayed. */
  get empty(): boolean {
    return this.queued.size === 0 && this.working.size === 0 && this.delayed.size === 0;
  }

  add(key: string): void {
    if (this.closed || this.queued.has(key)) return;
    if (this.working.has(key)) {
      this.dirty.add(key);
      return;
    }
    const { clock, observer } = this.options;
    this.queued.set(key, clock.monotonic());
    this.waiting.push(key);
    observer?.added();
    this.onReady();
  }

  addAfter(key: string, ms: number): void {
    if (this.closed) return;
    if (ms <= 0) return this.add(key);
    const at = this.options.clock.monotonic() + ms;
    const pending = this.delayed.get(key);
    if (pending !== undefined && pending.at <= at) return;
    pending?.timer.cancel();
    const timer = this.options.clock.after(ms, () => {
      this.delayed.delete(key);
      this.add(key);
    });
    this.delayed.set(key, { at, timer });
  }

  /** Adds a key again after its back-off. Returns the delay in milliseconds. */
  retry(key: string): number {
    const failures = (this.failures.get(key) ?? 0) + 1;
    this.failures.set(key, failures);
    const { firstRetryMs = 5, maxRetryMs = 60_000, random, observer } = this.options;
    observer?.retried();
    const delay = backoffMs(failures, { firstMs: firstRetryMs, maxMs: maxRetryMs, random });
    this.addAfter(key, delay);
    return delay;
  }

  /** Failures of a key since it was last forgotten. */
  failuresOf(key: string): number {
    return this.failures.get(key) ?? 0;
  }

  /** The key went well: its next failure counts as the first. */
  forget(key: string): void {
    this.failures.delete(key);
  }

  /** Takes the next key to work on; say `done` afterwards. */
  take(): string | undefined {
    const key = this.waiting[this.head];
    if (key === undefined) return undefined;
    this.head += 1;
    if (this.head > 1024 && this.head * 2 > this.waiting.length) {
      this.waiting = this.waiting.slice(this.head);
      this.head = 0;
    }
    const { clock, observer } = this.options;
    observer?.waited(clock.monotonic() - (this.queued.get(key) ?? 0));
    this.queued.delete(key);
    this.working.add(key);
    this.delayed.get(key)?.timer.cancel();
    this.delayed.delete(key);
    return key;
  }

  done(key: string): void {
    this.working.delete(key);
    if (this.dirty.delete(key)) this.add(key);
  }

  /** Takes nothing more, and hands nothing more out. */
  close(): void {
    this.closed = true;
    for (const { timer } of this.delayed.values()) timer.cancel();
    this.delayed.clear();
    this.queued.clear();
    this.dirty.clear();
    this.waiting = [];
    this.head = 0;
  }
}
