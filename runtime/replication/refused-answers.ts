import { EventReason } from "../api";
import type { EventRecorder, Outcome } from "../kube";
import type { Answer } from "./answer";
import type { Replicable } from "./copy";

/** What a provider has under way, such as the end of a namespace that is asked for no more, is over by then. */
const TELL_AFTER_MS = 3_000;
/** A provider that says something else each second is told of no more often. */
const TELL_AGAIN_AFTER_MS = 10 * 60_000;

interface Noted {
  /** Since when the answer has had something to refuse; undefined while it has not. */
  since: number | undefined;
  /** The message that was told last, and when. */
  told: { message: string; at: number } | undefined;
}

/** Tells on an object, once, what was refused of its peer's answer: however often the peer writes it, and with however many words. */
export class RefusedAnswers {
  private readonly noted = new Map<string, Noted>();

  constructor(
    private readonly options: {
      remoteClusterId: string;
      events: EventRecorder | undefined;
      /** Milliseconds that only grow. */
      monotonic: () => number;
    },
  ) {}

  /** @returns when to look at the object again, should nothing happen to it until then */
  note(key: string, source: Replicable, answer: Answer): Outcome {
    const noted = this.noted.get(key) ?? { since: undefined, told: undefined };
    if (answer.refused.length === 0) {
      // What was told is remembered, so that a peer that says it every other time is not told of every other time.
      if (noted.told === undefined) this.noted.delete(key);
      else noted.since = undefined;
      return;
    }
    const now = this.options.monotonic();
    const { events, remoteClusterId } = this.options;
    noted.since ??= now;
    this.noted.set(key, noted);
    const message = refusalMessage(remoteClusterId, answer);
    const waitMs = waitBeforeTelling(noted.since, noted.told, message, now);
    if (waitMs === undefined) return;
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    noted.told = { message, at: now };
    events?.warning(source, EventReason.peerStatusRefused, message);
  }

  /** The source of a key is gone. */
  forget(key: string): void {
    this.noted.delete(key);
  }
}

/** How long a refusal still waits to be told, in milliseconds; undefined where it was told. */
export function waitBeforeTelling(
  since: number,
  told: { message: string; at: number } | undefined,
  message: string,
  now: number,
): number | undefined {
  if (told?.message === message) return undefined;
  const first = since + TELL_AFTER_MS;
  const due = told === undefined ? first : Math.max(first, told.at + TELL_AGAIN_AFTER_MS);
  return Math.max(0, due - now);
}

const TOLD_FAULTS = 5;

/** One message of all that was refused of an object's answer, short enough for an event; the same in any order of the provider's fields. */
export function refusalMessage(clusterId: string, { status, refused }: Answer): string {
  const shown = [...refused]
    .sort()
    .slice(0, TOLD_FAULTS)
    .map((fault) => (fault.length > 160 ? `${fault.slice(0, 159)}…` : fault));
  const more = refused.length - shown.length;
  const rest = more > 0 ? `; and ${more} more` : "";
  const kept = status === undefined ? "nothing of it is taken over" : "the rest is taken over";
  return `cluster "${clusterId}" answers what it may not, and ${kept}: status.${shown.join("; status.")}${rest}; its administrator has to put it right there`;
}
