/** What lived for this long was healthy: when it ends, it is started again at once. */
const HEALTHY_MS = 10_000;
const FIRST_MS = 500;
const LONGEST_MS = 10_000;

/** How long to wait before something is started again that ends soon after each start: twice as long each time. All times are of a monotonic clock. */
export class RestartDelay {
  private startedAt: number | undefined;
  private endedAt: number | undefined;
  /** How often it has ended early, without having lived long in between. */
  earlyEnds = 0;

  started(now: number): void {
    this.startedAt = now;
    this.endedAt = undefined;
  }

  /** It is not there: returns the milliseconds after which it may be started. */
  remaining(now: number): number {
    if (this.startedAt === undefined) return 0;
    if (this.endedAt === undefined) {
      this.endedAt = now;
      this.earlyEnds = now - this.startedAt < HEALTHY_MS ? this.earlyEnds + 1 : 0;
    }
    if (this.earlyEnds === 0) return 0;
    const delay = Math.min(FIRST_MS * 2 ** (this.earlyEnds - 1), LONGEST_MS);
    return Math.max(0, this.endedAt + delay - now);
  }
}
