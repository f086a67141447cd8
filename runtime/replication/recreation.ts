import { backoffMs } from "../kube/backoff";

/** A copy that went away sooner than this after we made it counts as refused. */
const settledAfterMs = 60_000;

/** Holds back the making of copies that the peer removes or forbids time and again, so that the two sides do not spin. */
export class Recreation {
  private readonly refused = new Map<string, { times: number; at: number }>();

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
    const delay = backoffMs(known.times - 1, { firstMs: 1_000, maxMs: 30_000, random: () => 0 });
    return Math.max(0, delay - elapsed);
  }

  /** A copy was made, or forbidden. */
  attempted(key: string): void {
    this.refused.set(key, { times: (this.refused.get(key)?.times ?? 0) + 1, at: this.monotonic() });
  }

  forget(key: string): void {
    this.refused.delete(key);
  }
}
