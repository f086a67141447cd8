import { createHash } from "node:crypto";

import { backoffMs } from "../../kube";

/** A write that was not undone for this long is settled, in milliseconds. */
const SETTLED_MS = 60_000;
/** How many times the same content is written without delay. */
const AT_ONCE = 5;
const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;
/** Above this number of entries the settled ones are dropped. */
const REMEMBERED = 1_000;

interface Writing {
  /** Digest of what was written. */
  what: string;
  /** Of the object that came of it. */
  version: string | undefined;
  times: number;
  at: number;
}

/**
 * Delays repeated writes of the same content, which another writer keeps undoing, so that the two do not spin (field fault B81). Other content is
 * never delayed.
 */
export class WriteBackoff {
  private readonly writings = new Map<string, Writing>();

  /** @param monotonic milliseconds that only grow */
  constructor(private readonly monotonic: () => number) {}

  /** How long to wait before the content may be written (again); 0 for now. */
  delayMs(key: string, content: object): number {
    const known = this.writings.get(key);
    if (known === undefined) return 0;
    const elapsed = this.monotonic() - known.at;
    // The usual case costs no digest.
    if (elapsed <= SETTLED_MS && known.times < AT_ONCE) return 0;
    if (elapsed > SETTLED_MS || known.what !== digest(content)) {
      this.writings.delete(key);
      return 0;
    }
    const delay = backoffMs(known.times - AT_ONCE + 1, {
      firstMs: FIRST_MS,
      maxMs: LONGEST_MS,
      random: () => 0,
    });
    return Math.max(0, delay - elapsed);
  }

  /**
   * The content was written.
   *
   * @param version resource version of the object that came of it: while it is the last one, there was nothing to write, and the cache is behind
   */
  written(key: string, content: object, version: string | undefined): void {
    const what = digest(content);
    const known = this.writings.get(key);
    if (known !== undefined && version !== undefined && known.version === version) return;
    const times = known?.what === what ? known.times + 1 : 1;
    if (this.writings.size >= REMEMBERED) this.forgetSettled();
    this.writings.delete(key);
    this.writings.set(key, { what, version, times, at: this.monotonic() });
  }

  forget(key: string): void {
    this.writings.delete(key);
  }

  /** Entries are in order of age, so a burst of new ones does not scan all of them each time. */
  private forgetSettled(): void {
    const now = this.monotonic();
    for (const [key, { at }] of this.writings) {
      if (now - at <= SETTLED_MS) return;
      this.writings.delete(key);
    }
  }
}

function digest(content: object): string {
  return createHash("sha256").update(JSON.stringify(content)).digest("base64");
}
