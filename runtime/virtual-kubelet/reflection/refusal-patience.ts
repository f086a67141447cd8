/** A provider that takes a consumer back makes namespaces, rights and quotas one after the other. */
export const PATIENCE_MS = 3_000;
/** How many objects are remembered; of the oldest the time begins anew. */
const REMEMBERED = 10_000;

/**
 * Refusals that pass by themselves within seconds, as while a provider makes what belongs to a namespace, are not worth telling of: whoever reads
 * them later takes them for true. Those that last are told.
 */
export class RefusalPatience {
  /** Since when, by UID of the object, on the monotonic clock. */
  private readonly since = new Map<string, number>();

  constructor(private readonly monotonic: () => number) {}

  /** An object was refused. @returns whether that has lasted long enough to be told */
  lasts(uid: string): boolean {
    const now = this.monotonic();
    const since = this.since.get(uid);
    if (since !== undefined) return now - since >= PATIENCE_MS;
    this.since.set(uid, now);
    if (this.since.size > REMEMBERED) {
      for (const oldest of this.since.keys()) {
        this.since.delete(oldest);
        break;
      }
    }
    return false;
  }

  /** What was asked for was done. */
  over(uid: string): void {
    this.since.delete(uid);
  }
}
