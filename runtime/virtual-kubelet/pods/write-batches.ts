import type { Clock } from "../../kube";

/** How many writes go at once before they are taken together, and how soon one of these comes back. */
const FREE = { most: 20, eachMs: 500 };
/** How long after each other batches go, in milliseconds. */
const APART_MS = 400;

/**
 * Tells writes of the same sort when to go: at once where they are few, in batches where many are due. Each status of a pod makes its ReplicaSet's
 * controller count all pods again, and write what it counted, so that many at a time cost the consumer's control plane less than as many in a row.
 */
export class WriteBatches {
  private free = FREE.most;
  private countedAt: number;
  private nextAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly clock: Clock) {
    this.countedAt = clock.monotonic();
  }

  /** @returns when to write, on the monotonic clock */
  turn(): number {
    const now = this.clock.monotonic();
    this.free = Math.min(FREE.most, this.free + (now - this.countedAt) / FREE.eachMs);
    this.countedAt = now;
    if (this.free >= 1) {
      this.free -= 1;
      return now;
    }
    if (now >= this.nextAt) this.nextAt = now + APART_MS;
    return this.nextAt;
  }
}
