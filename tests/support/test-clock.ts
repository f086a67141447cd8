import type { Clock, Timer } from "../../runtime/kube";

/** Time that stands still until a test moves it. Due callbacks run in order of their time, each at its own time. */
export class TestClock implements Clock {
  private elapsed = 0;
  private readonly due = new Set<{ at: number; callback: () => void }>();

  /** @param start wall-clock time at the beginning, milliseconds since 1970 */
  constructor(private readonly start = Date.UTC(2024, 0, 2, 3, 4, 5)) {}

  now(): number {
    return this.start + this.elapsed;
  }

  monotonic(): number {
    return this.elapsed;
  }

  after(ms: number, callback: () => void): Timer {
    const entry = { at: this.elapsed + Math.max(0, ms), callback };
    this.due.add(entry);
    return { cancel: () => this.due.delete(entry) };
  }

  /** How many callbacks wait for their time. */
  get waiting(): number {
    return this.due.size;
  }

  /** Moves the time forward; promises that become ready on the way are carried on with before the next callback runs. */
  async advance(ms: number): Promise<void> {
    const end = this.elapsed + ms;
    await settle();
    for (let next = this.next(end); next !== undefined; next = this.next(end)) {
      this.due.delete(next);
      this.elapsed = next.at;
      next.callback();
      await settle();
    }
    this.elapsed = end;
  }

  private next(end: number): { at: number; callback: () => void } | undefined {
    let first: { at: number; callback: () => void } | undefined;
    for (const entry of this.due)
      if (entry.at <= end && (first === undefined || entry.at < first.at)) first = entry;
    return first;
  }
}

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
