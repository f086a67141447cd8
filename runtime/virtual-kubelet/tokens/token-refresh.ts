const REFRESH_FRACTION = 0.2;

/** A token as it was granted. */
export interface GrantedToken {
  /** Milliseconds since the epoch. */
  expiresAt: number;
  /** From the request to the expiry, in milliseconds. Undefined: not known, such as after a restart. */
  lifetimeMs?: number;
}

/**
 * When a token is to be renewed: a fifth of its lifetime before it expires (offloading reference 10.8). An API server may grant less than what was
 * requested, or more. The shorter of both lifetimes counts.
 *
 * @param requestedSeconds requested lifetime
 * @returns milliseconds since the epoch
 */
export function refreshTime(
  { expiresAt, lifetimeMs = Infinity }: GrantedToken,
  requestedSeconds: number,
): number {
  return expiresAt - REFRESH_FRACTION * Math.min(requestedSeconds * 1000, lifetimeMs);
}
