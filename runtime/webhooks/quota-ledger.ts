import { addAmounts, type Amounts, greatestAmounts, type Nano, subtractAmounts } from "../api/quantity";

/** A ShadowPod that exists, as the ledger books it. */
export interface BookedShadowPod {
  /** `namespace/name`. */
  key: string;
  uid: string;
  /** Value of the creator label. */
  creator: string;
  demand: Amounts;
  /** It has ended, or something else stands for it: it takes nothing any more. */
  released: boolean;
}

interface Claim {
  uid: string | undefined;
  creator: string;
  demand: Amounts;
}

interface Entry {
  /** What the API server stores. */
  stored?: Claim & { uid: string; released: boolean };
  /** What was admitted and not seen stored yet. */
  admitted?: Claim & { expiresAt: number };
}

const NOTHING: Amounts = new Map();

/** How long an admitted ShadowPod counts without being seen: another webhook, or the storage, may have refused it. */
export const ADMITTED_FOR_MS = 30_000;

/**
 * What each user's ShadowPods take. It follows the stored objects, so it needs no record of its own and is right again after any restart;
 * on top it holds what was admitted in the last moments, so that two requests can't both get what is free once. Where both are known of one
 * name, the greater amount counts: never less than what runs.
 *
 * All methods are synchronous: a check and the claim that follows it can't be separated by another request.
 */
export class QuotaLedger {
  private readonly entries = new Map<string, Entry>();
  private readonly used = new Map<string, Map<string, Nano>>();
  /** Names with an admitted claim, in the order of their expiry. */
  private readonly expiring = new Map<string, number>();

  /** @param now milliseconds of a clock that does not jump */
  constructor(private readonly now: () => number) {}

  /** A ShadowPod was added or changed. */
  store(pod: BookedShadowPod): void {
    const { key, uid, creator, demand, released } = pod;
    const before = this.entries.get(key);
    const admitted = before?.admitted;
    const seen = admitted === undefined || admitted.uid === undefined || admitted.uid === uid;
    this.replace(key, {
      stored: { uid, creator, demand, released },
      ...(seen ? {} : { admitted }),
    });
  }

  /** A ShadowPod is gone. */
  remove(key: string, uid: string): void {
    const before = this.entries.get(key);
    if (before === undefined) return;
    const { stored, admitted } = before;
    this.replace(key, {
      ...(stored === undefined || stored.uid === uid ? {} : { stored }),
      ...(admitted === undefined || admitted.uid === uid ? {} : { admitted }),
    });
  }

  /** A ShadowPod was admitted. */
  admit(key: string, claim: Claim): void {
    const stored = this.entries.get(key)?.stored;
    this.replace(key, {
      ...(stored === undefined ? {} : { stored }),
      admitted: { ...claim, expiresAt: this.now() + ADMITTED_FOR_MS },
    });
  }

  /** The stored ShadowPod of a name, as far as it is known. */
  stored(key: string): Omit<BookedShadowPod, "key"> | undefined {
    return this.entries.get(key)?.stored;
  }

  /** What a user's ShadowPods take, those named `except` aside. */
  usage(creator: string, except?: string): Amounts {
    this.expire();
    const used = this.used.get(creator) ?? NOTHING;
    const own = except === undefined ? undefined : this.entries.get(except);
    if (own === undefined) return used;
    const rest = new Map(used);
    for (const [owner, amounts] of takenBy(own)) if (owner === creator) subtractAmounts(rest, amounts);
    return rest;
  }

  /** Number of ShadowPods known. */
  get size(): number {
    return this.entries.size;
  }

  private expire(): void {
    const now = this.now();
    for (const [key, expiresAt] of this.expiring) {
      if (expiresAt > now) return;
      const stored = this.entries.get(key)?.stored;
      this.replace(key, stored === undefined ? {} : { stored });
    }
  }

  private replace(key: string, entry: Entry): void {
    const before = this.entries.get(key);
    if (before !== undefined) {
      for (const [creator, amounts] of takenBy(before)) {
        const used = this.used.get(creator);
        if (used === undefined) continue;
        subtractAmounts(used, amounts);
        if (used.size === 0) this.used.delete(creator);
      }
    }
    // All claims live equally long: a new one goes to the end, one that stays keeps its place, and the map is in the order of expiry.
    if (entry.admitted !== before?.admitted) {
      this.expiring.delete(key);
      if (entry.admitted !== undefined) this.expiring.set(key, entry.admitted.expiresAt);
    }
    if (entry.stored === undefined && entry.admitted === undefined) {
      this.entries.delete(key);
      return;
    }
    this.entries.set(key, entry);
    for (const [creator, amounts] of takenBy(entry)) {
      const used = this.used.get(creator) ?? new Map<string, Nano>();
      this.used.set(creator, used);
      addAmounts(used, amounts);
    }
  }
}

/** Who pays for a name, and how much. */
function takenBy({ stored, admitted }: Entry): [creator: string, amounts: Amounts][] {
  const running = stored === undefined || stored.released ? undefined : stored;
  if (running === undefined) return admitted === undefined ? [] : [[admitted.creator, admitted.demand]];
  if (admitted === undefined) return [[running.creator, running.demand]];
  if (admitted.creator === running.creator)
    return [[running.creator, greatestAmounts(running.demand, admitted.demand)]];
  return [
    [running.creator, running.demand],
    [admitted.creator, admitted.demand],
  ];
}
