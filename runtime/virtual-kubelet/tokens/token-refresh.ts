const REFRESH_FRACTION = 0.2;

/**
 * When a token is to be renewed: a fifth of its requested lifetime before it expires (offloading reference 10.8).
 *
 * @param expiresAt milliseconds since the epoch
 * @param expirationSeconds requested lifetime
 * @returns milliseconds since the epoch
 */
export function refreshTime(expiresAt: number, expirationSeconds: number): number {
  return expiresAt - REFRESH_FRACTION * expirationSeconds * 1000;
}
