import type { Clock } from "../../kube";

/** A garbage collector remembers the last 500 owners that it saw go, of all kinds and of all nodes together. */
const MOST = 100;
/** A pod that is there after this time, in milliseconds, waits for a garbage collector that is slow anyway. */
const EXPECTED_MS = 5_000;

/**
 * Lets ShadowPods go no faster than the provider's garbage collector follows with their pods. It then remembers that a pod's owner is gone; of those
 * that it forgot meanwhile it asks the API server, one by one.
 */
export class RemovalLimiter {
  /** Since when the pod of a ShadowPod that went may have been there alone, on the monotonic clock, the oldest first. */
  private readonly left = new Map<string, number>();
  private readonly waiting = new Set<string>();

  /** @param release told a key that had to wait when its turn has come */
  constructor(
    private readonly clock: Clock,
    private readonly release: (key: string) => void,
  ) {}

  /** @returns 0 where the ShadowPod may go, and is counted; else how long it has to wait at most, in milliseconds */
  take(key: string): number {
    const now = this.clock.monotonic();
    const [oldest] = this.left;
    if (oldest !== undefined && this.left.size >= MOST) {
      const [late, since] = oldest;
      const leftMs = since + EXPECTED_MS - now;
      if (leftMs > 0) {
        this.waiting.add(key);
        return leftMs;
      }
      this.left.delete(late);
    }
    this.waiting.delete(key);
    this.left.delete(key);
    this.left.set(key, now);
    return 0;
  }

  /** The pod has gone too, or is going, or the ShadowPod did not go. */
  followed(key: string): void {
    this.waiting.delete(key);
    if (!this.left.delete(key)) return;
    const [next] = this.waiting;
    if (next === undefined) return;
    this.waiting.delete(next);
    this.release(next);
  }
}
