import { Label, LabelValue, Pod, type ShadowPod } from "../api";
import { controllerOf, keyOf, type KubeClient, refOfKey, type RuntimeContext, sleep } from "../kube";
import {
  bookedPod,
  type BookedShadowPod,
  creatorOf,
  hasEnded,
  isManaged,
  type QuotaLedger,
  whatCountsOfPod,
} from "./quota-ledger";

/** The pods of ShadowPods, as the API server has them now. */
interface PodsThere {
  get(key: string): Promise<Pod | undefined>;
  /** Those that have not ended, in pages. @param creator of all creators, where undefined */
  pages(creator: string | undefined): AsyncIterable<readonly Pod[]>;
}

export type OrphanedPodsContext = Pick<RuntimeContext, "clock" | "log" | "signal">;

/** Up to this many pods of a creator are read one by one; beyond it all pods of that creator are listed. */
const ASKED_ONE_BY_ONE = 16;
/** How long the result of a look at a creator's pods is reused, so that looks take no more than a tenth of the time. */
const FRESH_MS = 250;
const FRESH_TIMES = 9;
/** After ShadowPods were deleted, all pods are listed once in this time. */
const SURVEY_MS = 300_000;
/** The same after a pod was given up that was never seen: a controller whose watch lags may create it later. */
const SURVEY_UNSEEN_MS = 5_000;
const AGAIN_MS = 1_000;

/**
 * Books the orphaned pods, which exist without their ShadowPods, in the ledger.
 *
 * A pod may take any time to end, and the peer says how long. When the watch shows that a ShadowPod is gone, its pod counts from then on. Whether the pod
 * is gone too matters only when a creator has no room left, so the API server is asked only then, and there is no watch of all pods. A list of all pods
 * finds what the watch of ShadowPods can't show: when the process starts, when the watch restarts, seconds after a pod was given up that was never seen, and
 * some minutes after ShadowPods were deleted.
 */
export class OrphanedPods {
  private readonly claims = new Map<string, Claim[]>();
  /** By creator: the last look, while it is fresh, and the uids of the ShadowPods that were gone when it began. */
  private readonly looks = new Map<string, { result: Promise<boolean>; gone: ReadonlySet<string> }>();
  private surveyed = false;
  private surveying = false;
  private surveyAgain = false;
  private surveyAt = Infinity;

  /** @param liveUid uid of the ShadowPod of a name, as the watch shows it */
  constructor(
    private readonly context: OrphanedPodsContext,
    private readonly there: PodsThere,
    private readonly ledger: QuotaLedger,
    private readonly liveUid: (key: string) => string | undefined,
  ) {}

  /** Whether the pods have been listed since the process started. */
  get ready(): boolean {
    return this.surveyed;
  }

  /** A ShadowPod is there: it counts for its pod. */
  shadowThere({ metadata }: ShadowPod, key: string): void {
    const before = this.claims.get(key);
    if (before === undefined) return;
    this.replace(
      key,
      before.filter(({ shadow }) => shadow !== metadata.uid),
    );
  }

  /**
   * A ShadowPod is gone: from now on its pod counts, unless it has ended.
   *
   * @param seen whether the pod was there
   */
  shadowGone({ key, uid, creator, demand, released }: BookedShadowPod, seen: boolean): void {
    if (released) return;
    const claim: Claim = { shadow: uid, creator, seen };
    const others = this.claims.get(key);
    this.claims.set(key, others === undefined ? [claim] : [...others, claim]);
    this.ledger.store({ key: entryOf(key, uid), uid, creator, demand, released: false });
    this.surveyLater(SURVEY_MS);
  }

  /**
   * Asks the API server which of a creator's pods are still there.
   *
   * @returns whether one of them was not, and there may be room now
   */
  look(creator: string): Promise<boolean> {
    const last = this.looks.get(creator);
    const gone = new Set<string>();
    const due: string[] = [];
    for (const [key, claims] of this.claims) {
      const theirs = claims.filter((claim) => claim.creator === creator);
      for (const { shadow } of theirs) gone.add(shadow);
      if (theirs.some(({ shadow }) => last?.gone.has(shadow) !== true)) due.push(key);
    }
    // A few pods that were orphaned since the last look are read at once: their creator waits for the room.
    if (last !== undefined && (due.length === 0 || due.length > ASKED_ONE_BY_ONE)) return last.result;
    if (due.length === 0) return Promise.resolve(false);
    const { clock } = this.context;
    const begin = clock.monotonic();
    const result = (due.length > ASKED_ONE_BY_ONE ? this.list(creator) : this.askFor(due)).catch(
      (error: unknown) => {
        this.context.log.warn("pods without ShadowPods count on: the API server does not tell of them", {
          error,
        });
        return false;
      },
    );
    const look = { result, gone };
    this.looks.set(creator, look);
    void result.then(() => {
      const freshMs = Math.max(FRESH_MS, FRESH_TIMES * (clock.monotonic() - begin));
      clock.after(freshMs, () => {
        if (this.looks.get(creator) === look) this.looks.delete(creator);
      });
    });
    return result;
  }

  /** Lists all pods, and retries until that succeeds. */
  survey(): void {
    this.surveyAgain = true;
    if (this.surveying) return;
    this.surveying = true;
    void this.surveyUntilDone().finally(() => (this.surveying = false));
  }

  private async surveyUntilDone(): Promise<void> {
    const { clock, log, signal } = this.context;
    while (this.surveyAgain && !signal.aborted) {
      this.surveyAgain = false;
      try {
        await this.list(undefined);
        this.surveyed = true;
      } catch (error) {
        if (signal.aborted) return;
        log.warn("the pods of ShadowPods can't be listed", { error, retryInMs: AGAIN_MS });
        this.surveyAgain = true;
        await sleep(clock, AGAIN_MS, signal);
      }
    }
  }

  private surveyLater(inMs: number): void {
    const { clock, signal } = this.context;
    const at = clock.monotonic() + inMs;
    if (at >= this.surveyAt) return;
    this.surveyAt = at;
    void sleep(clock, inMs, signal).then(() => {
      if (this.surveyAt !== at || signal.aborted) return;
      this.surveyAt = Infinity;
      this.survey();
    });
  }

  private async askFor(keys: readonly string[]): Promise<boolean> {
    const released = await Promise.all(
      keys.map(async (key) => {
        const before = this.claims.get(key) ?? [];
        return this.settle(key, before, await this.there.get(key));
      }),
    );
    return released.includes(true);
  }

  /** @param creator all creators, where undefined */
  private async list(creator: string | undefined): Promise<boolean> {
    const before = new Map(this.claims);
    const left = new Map<string, Pod>();
    const taken = new Set<string>();
    for await (const page of this.there.pages(creator)) {
      for (const pod of page) {
        const key = keyOf(pod);
        taken.add(key);
        if (before.has(key) || isOrphaned(pod, this.liveUid(key))) left.set(key, whatCountsOfPod(pod));
      }
    }
    let released = false;
    for (const [key, claims] of before) {
      // Of another creator, whose pods were not listed.
      if (creator !== undefined && !taken.has(key) && claims.some((claim) => claim.creator !== creator))
        continue;
      if (this.settle(key, claims, left.get(key))) released = true;
    }
    for (const [key, pod] of left) if (!before.has(key)) this.settle(key, [], pod);
    return released;
  }

  /** @param before the claims on a name when the API server was asked */
  private settle(key: string, before: readonly Claim[], pod: Pod | undefined): boolean {
    const claims = this.claims.get(key) ?? [];
    const kept = settled({ claims, before, pod, liveUid: this.liveUid(key) });
    if (pod !== undefined) {
      // From now on exactly what the pod asks for counts.
      for (const claim of kept) {
        if (claim.pod !== pod.metadata.uid) continue;
        const booked = bookedPod(pod, undefined);
        this.ledger.store({ ...booked, key: entryOf(key, claim.shadow), uid: claim.shadow });
      }
    }
    this.replace(key, kept);
    return claims.some(({ shadow }) => kept.every((claim) => claim.shadow !== shadow));
  }

  private replace(key: string, kept: Claim[]): void {
    for (const { shadow, seen } of this.claims.get(key) ?? []) {
      if (kept.some((claim) => claim.shadow === shadow)) continue;
      this.ledger.remove(entryOf(key, shadow), shadow);
      // It may have been given up too early.
      if (!seen) this.surveyLater(SURVEY_UNSEEN_MS);
    }
    if (kept.length === 0) this.claims.delete(key);
    else this.claims.set(key, kept);
  }
}

/** In the ledger, under a name that no ShadowPod has. */
function entryOf(key: string, shadow: string): string {
  return `pod ${key} ${shadow}`;
}

const MANAGED = `${Label.managedBy}=${LabelValue.managedByShadowPod}`;
const NOT_ENDED = "status.phase!=Succeeded,status.phase!=Failed";
/** An admission waits for it. */
const DEADLINE_MS = 5_000;
/** Few objects, so that a page takes little memory. */
const PAGE_SIZE = 100;

export function podsThere(client: KubeClient, signal: AbortSignal): PodsThere {
  return {
    get: (key) => client.get(Pod, refOfKey(key), { signal, deadlineMs: DEADLINE_MS }),
    async *pages(creator) {
      const labelSelector = creator === undefined ? MANAGED : `${MANAGED},${Label.creatorUser}=${creator}`;
      const selection = { labelSelector, fieldSelector: NOT_ENDED };
      for await (const { items } of client.listPages(Pod, selection, { signal, pageSize: PAGE_SIZE }))
        yield items;
    },
  };
}

/** The assumption that the pod of a deleted ShadowPod still exists. */
export interface Claim {
  /** Uid of the ShadowPod; empty for a pod that was found without one. */
  shadow: string;
  creator: string;
  /** The pod was there, so that it is gone for good when it is not. */
  seen: boolean;
  /** Uid of the pod, once it was asked for. */
  pod?: string;
}

interface ObservedClaims {
  claims: readonly Claim[];
  /** Those that there were when the API server was asked. */
  before: readonly Claim[];
  /** What has the name at the API server. */
  pod: Pod | undefined;
  /** Of the ShadowPod of that name. */
  liveUid: string | undefined;
}

/** Whether a pod of a ShadowPod is there, runs, and its ShadowPod does not count for it. */
export function isOrphaned(pod: Pod, liveUid: string | undefined): boolean {
  if (!isManaged(pod) || hasEnded(pod.status?.phase)) return false;
  return liveUid === undefined || controllerOf(pod)?.uid !== liveUid;
}

/** The claims on one name that remain once its pod is known: at any time a name has one pod. */
export function settled({ claims, before, pod, liveUid }: ObservedClaims): Claim[] {
  const later = claims.filter((claim) => !before.includes(claim));
  const asked = claims.filter((claim) => before.includes(claim));
  const owner = controllerOf(pod)?.uid;
  // A controller whose watch lags may still create one that was never seen. The next survey finds it.
  if (pod === undefined || !isManaged(pod) || hasEnded(pod.status?.phase)) return later;
  // While the name is taken, no other pod comes.
  if (!isOrphaned(pod, liveUid)) return later;
  const found = { seen: true, pod: pod.metadata.uid ?? "" };
  // A pod without an owner belongs to the first ShadowPod that was deleted.
  const whose = (claim: Claim) => owner === undefined || claim.shadow === owner;
  const theirs = asked.find(whose) ?? later.find(whose);
  if (theirs !== undefined) return [{ ...theirs, ...found }, ...later.filter((claim) => claim !== theirs)];
  return [{ shadow: owner ?? "", creator: creatorOf(pod), ...found }, ...later];
}
