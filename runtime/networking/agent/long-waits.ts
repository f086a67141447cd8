/** What waits for longer than this is told of, in milliseconds: interfaces and neighbours of a network that is being set up are there before. */
const PATIENCE_MS = 15_000;

/** Objects that wait for something that may come by itself: told once, when they have waited for long, and again when it is something else. */
export class LongWaits {
  private readonly waiting = new Map<string, { since: number; told?: string }>();

  constructor(private readonly monotonic: () => number) {}

  /** @returns whether it is time to tell that the object waits */
  isToBeTold(uid: string, what: string): boolean {
    const now = this.monotonic();
    const wait = this.waiting.get(uid) ?? { since: now };
    this.waiting.set(uid, wait);
    if (now - wait.since < PATIENCE_MS || wait.told === what) return false;
    wait.told = what;
    return true;
  }

  /** Forgets all but those that still wait. */
  keep(uids: ReadonlySet<string>): void {
    for (const uid of this.waiting.keys()) if (!uids.has(uid)) this.waiting.delete(uid);
  }
}
