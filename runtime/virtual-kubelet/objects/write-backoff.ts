import { createHash } from "node:crypto";

import { backoffMs } from "../../kube";

/** What stayed as it was written for this long is nobody's quarrel. */
const SETTLED_MS = 60_000;
/** Somebody may try a few times by hand, and is answered at once. */
const AT_ONCE = 5;
const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;
/** With more than these the settled ones are forgotten. */
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
 * Holds back the writing of the same content that somebody else undoes time and again, so that the two do not spin (field fault B81). Other
 * content is never held back.
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

  /** The oldest come first: a burst of new ones does not look at all of them each time. */
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
