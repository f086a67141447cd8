import { backoffMs } from "../kube";

/** A copy that went away sooner than this after we made it counts as refused. */
const settledAfterMs = 60_000;
const longestMs = 30_000;
const longestForbiddenMs = 5_000;

/** Holds back the making of copies that the peer removes or forbids time and again, so that the two sides do not spin. */
export class Recreation {
  private readonly refused = new Map<string, { times: number; at: number; mostMs: number }>();

  /** @param monotonic milliseconds that only grow */
  constructor(private readonly monotonic: () => number) {}

  /** How long to wait before a copy may be made (again); 0 for now. */
  delayMs(key: string): number {
    const known = this.refused.get(key);
    if (known === undefined) return 0;
    const elapsed = this.monotonic() - known.at;
    if (elapsed > settledAfterMs) {
      this.refused.delete(key);
      return 0;
    }
    // The second copy follows the first at once: somebody may have removed that by hand.
    if (known.times < 2) return 0;
    const delay = backoffMs(known.times - 1, { firstMs: 1_000, maxMs: known.mostMs, random: () => 0 });
    return Math.max(0, delay - elapsed);
  }

  /** A copy is about to be made. */
  attempted(key: string): void {
    const times = (this.refused.get(key)?.times ?? 0) + 1;
    this.refused.set(key, { times, at: this.monotonic(), mostMs: longestMs });
  }

  /** It was forbidden: nothing was made that would have to be removed, so asking again costs little. */
  forbidden(key: string): void {
    const known = this.refused.get(key);
    if (known !== undefined) known.mostMs = longestForbiddenMs;
  }

  forget(key: string): void {
    this.refused.delete(key);
  }
}
