import type { Clock, Timer } from "../clock";

/** A burst is over when it has been quiet for so long, in milliseconds. */
const QUIET_MS = 500;

/**
 * Holds back keys of low priority while there is urgent work, and releases all of them when that is over. One timer serves all keys, so the cost does
 * not grow with their number.
 */
export class HeldKeys {
  private busyAt = -Infinity;
  private readonly held = new Set<string>();
  private timer: Timer | undefined;

  /** @param release called with each key that was held, one by one */
  constructor(
    private readonly clock: Clock,
    private readonly release: (key: string) => void,
  ) {}

  /** Notes that urgent work is being done. */
  busy(): void {
    this.busyAt = this.clock.monotonic();
  }

  /** @returns whether the key has to wait; it is released later */
  hold(key: string): boolean {
    const leftMs = this.busyForMs();
    if (leftMs <= 0) return false;
    this.held.add(key);
    this.timer ??= this.clock.after(leftMs, () => this.look());
    return true;
  }

  /** Releases all keys now. */
  flush(): void {
    const keys = [...this.held];
    this.end();
    for (const key of keys) this.release(key);
  }

  /** Forgets the keys that are held. None of them is released. */
  end(): void {
    this.timer?.cancel();
    this.timer = undefined;
    this.held.clear();
  }

  private busyForMs(): number {
    return this.busyAt + QUIET_MS - this.clock.monotonic();
  }

  private look(): void {
    const leftMs = this.busyForMs();
    if (leftMs > 0) this.timer = this.clock.after(leftMs, () => this.look());
    else this.flush();
  }
}
