export interface BackoffOptions {
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
