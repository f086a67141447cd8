import type { Clock } from "../kube";

type Strings = Readonly<Record<string, string>> | undefined;

interface Remembered {
  /** The ShadowPod that this is about; anything known of an earlier one of the name is void. */
  uid: string;
  createdAt?: number;
  /** How the pod ended, seen when it was deleted before that could be written. */
  outcome?: "Succeeded" | "Failed";
  reported?: string;
  /** When the ShadowPod went and left its pod behind. */
  abandonedAt?: number;
  /** We are deleting what it left. */
  removing?: true;
  /** When the pod was first seen to run. */
  runsSince?: number;
  /** What was last written to the pod's metadata. */
  metadata?: { pod: string; labels: Strings; annotations: Strings };
}

/** An expected pod that the watch has not shown after this time is no longer expected. */
const UNSEEN_MS = 5_000;
/** A garbage collector that has deleted nothing for this long is not at work. */
const COLLECTING_MS = 1_000;

/**
 * The ShadowPod controller's expectations: what it knows from its own writes before its watches show them. They save requests; losing them
 * never costs correctness.
 */
export class ShadowPodExpectations {
  private readonly entries = new Map<string, Remembered>();
  private lastCollection = -Infinity;

  constructor(private readonly clock: Clock) {}

  forget(key: string): void {
    this.entries.delete(key);
  }

  created(key: string, uid: string): void {
    this.of(key, uid).createdAt = this.clock.monotonic();
  }

  /** The ShadowPod went, and left its pod behind; nothing else of it matters any more. */
  abandon(key: string, uid: string): void {
    this.entries.set(key, { uid, abandonedAt: this.clock.monotonic() });
  }

  /** How long ago a pod's owner was seen to go; undefined where it was not. */
  abandonedForMs(key: string, owner: string | undefined): number | undefined {
    const { abandonedAt } = (owner === undefined ? undefined : this.known(key, owner)) ?? {};
    return abandonedAt === undefined ? undefined : this.clock.monotonic() - abandonedAt;
  }

  /** We delete an abandoned pod ourselves. */
  removing(key: string): void {
    const entry = this.entries.get(key);
    if (entry !== undefined) entry.removing = true;
  }

  /** A pod went. Of an abandoned one that is the last to know, and tells whether somebody else collects them. */
  gone(key: string, owner: string | undefined): void {
    if (this.abandonedForMs(key, owner) === undefined) return;
    if (this.entries.get(key)?.removing !== true) this.lastCollection = this.clock.monotonic();
    this.forget(key);
  }

  /** Whether abandoned pods have been going of late. */
  get isCollecting(): boolean {
    return this.clock.monotonic() - this.lastCollection < COLLECTING_MS;
  }

  /** The pod has been seen, or has been seen to go. */
  seen(key: string): void {
    const entry = this.entries.get(key);
    if (entry !== undefined) delete entry.createdAt;
  }

  /** How long a pod that was just created may still be on its way into the watch; 0 when there is nothing to wait for. */
  unseenForMs(key: string, uid: string): number {
    const { createdAt } = this.known(key, uid) ?? {};
    return createdAt === undefined ? 0 : Math.max(0, createdAt + UNSEEN_MS - this.clock.monotonic());
  }

  /** How long the pod has been known to run. */
  runsForMs(key: string, uid: string): number {
    const now = this.clock.monotonic();
    return now - (this.of(key, uid).runsSince ??= now);
  }

  ended(key: string, uid: string, outcome: "Succeeded" | "Failed"): void {
    this.of(key, uid).outcome = outcome;
  }

  outcome(key: string, uid: string): "Succeeded" | "Failed" | undefined {
    return this.known(key, uid)?.outcome;
  }

  reported(key: string, uid: string, phase: string): void {
    this.of(key, uid).reported = phase;
  }

  hasReported(key: string, uid: string, phase: string): boolean {
    return this.known(key, uid)?.reported === phase;
  }

  wrote(key: string, uid: string, metadata: NonNullable<Remembered["metadata"]>): void {
    this.of(key, uid).metadata = metadata;
  }

  written(key: string, uid: string, pod: string): Remembered["metadata"] {
    const metadata = this.known(key, uid)?.metadata;
    return metadata?.pod === pod ? metadata : undefined;
  }

  private known(key: string, uid: string): Remembered | undefined {
    const entry = this.entries.get(key);
    return entry?.uid === uid ? entry : undefined;
  }

  private of(key: string, uid: string): Remembered {
    const known = this.known(key, uid);
    if (known !== undefined) return known;
    const entry: Remembered = { uid };
    this.entries.set(key, entry);
    return entry;
  }
}
