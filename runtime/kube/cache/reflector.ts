import { InvalidObjectError, isRecord } from "../../api/invalid-object";
import type { Kind, KubeObject } from "../../api/meta";
import { AnswerLimitError, KeptObjects, ListCosts } from "../client/answer-limits";
import { ApiError, isForbidden, messageOf } from "../client/api-error";
import type { KubeClient } from "../client/client";
import type { ListOptions } from "../client/client-options";
import { ConnectionError } from "../client/dial";
import { collectionPath, keyOf, keyOfRef, withQuery } from "../client/object-reference";
import { type Clock, sleep, type Timer } from "../clock";
import type { Logger } from "../log";
import { sameVersion } from "./store";
import {
  LASTING_MS,
  refusesStreaming,
  type RestartReason,
  restartReason,
  WatchBackoff,
  type WatchEnd,
} from "./watch-backoff";
import { IdleWatchError, isInitialEventsEnd, readWatch, versionOf, type WatchEvent } from "./watch-stream";

/** Where a reflector puts what it sees. */
interface ReflectorSink<T> {
  /** The whole selection as it is now: what is not in it is gone. */
  replace(present: ReadonlyMap<string, T>): void;
  set(object: T): void;
  /** @param final the last state, as the deletion event carries it */
  delete(key: string, final: T): void;
}

export interface ReflectorOptions<T extends KubeObject> {
  client: KubeClient;
  kind: Kind<T>;
  selection: ListOptions;
  /** Makes of an object what is kept of it. Managed fields are off already. */
  project: (object: T) => T;
  /** The version that is kept of a key, so that a list can share it instead of holding a second copy. */
  kept: (key: string) => T | undefined;
  sink: ReflectorSink<T>;
  clock: Clock;
  log: Logger;
  /** Called with the reason each time a watch is started again. */
  onRestart?: (reason: RestartReason) => void;
}

/** The server ends a watch after this long, to spread them over its replicas; a random part of it comes on top. */
const WATCH_SECONDS = 300;
/** API servers send a bookmark each minute; the interval is learnt where it is longer. */
const BOOKMARK_INTERVAL_MS = 60_000;
/** While the list streams in, silence means that the server does not know of streaming lists. */
const INITIAL_IDLE_MS = 20_000;
/** Watches that fail this often without any event start over with a list. */
const MAX_FAILED_RESUMES = 3;

/**
 * Lists and watches one kind and selection until its signal is aborted. A watch that ends is resumed at the last resource version.
 *
 * It lists by a streaming watch, or in pages where the server does not support that. A list that breaks off is discarded. Failures, and watches that
 * end too soon, are logged and retried with a back-off of up to 30 s.
 */
export class Reflector<T extends KubeObject> {
  /** Names the watch in reports, such as `watch pods (rome)`. */
  readonly what: string;
  /** Why there is no live watch at the moment, for readiness reports. */
  problem: string | undefined;
  /** Whether the server forbids the watch (403). */
  forbidden = false;
  private resumeFrom: string | undefined;
  private streaming: "yes" | "not now" | "never" = "yes";
  private readonly backoff = new WatchBackoff();
  /** When the server accepted the present attempt. */
  private openSince: number | undefined;
  private readonly keeps: KeptObjects;
  private failedResumes = 0;
  private bookmarkIntervalMs = BOOKMARK_INTERVAL_MS;
  private lastBookmark: number | undefined;

  constructor(private readonly options: ReflectorOptions<T>) {
    const { client, kind, selection } = options;
    const group = kind.group === "" ? "" : `.${kind.group}`;
    const parts = [selection.namespace, selection.labelSelector, selection.fieldSelector];
    const of = parts.filter((part) => part !== undefined).join(" ");
    this.what = `watch ${kind.plural}${group}${of === "" ? "" : ` (${of})`}`;
    this.keeps = new KeptObjects(client.nameOf(collectionPath(kind, selection.namespace)), client.kept);
  }

  /**
   * Whether what the sink was told is as new as an object of this version: one that we wrote, and that is not there, is gone. False while nobody knows.
   * Versions of objects of one kind can be compared as numbers.
   */
  hasReached(version: string): boolean {
    const { resumeFrom } = this;
    if (resumeFrom === undefined || !DIGITS.test(resumeFrom) || !DIGITS.test(version)) return false;
    return BigInt(resumeFrom) >= BigInt(version);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.options;
    try {
      while (!signal.aborted) {
        let delay: number;
        try {
          await this.once(signal);
          if (signal.aborted) return;
          this.options.onRestart?.("ended");
          delay = this.afterEnd();
        } catch (error) {
          if (signal.aborted) return;
          delay = this.after(error);
        }
        if (delay > 0) await sleep(clock, delay, signal);
      }
    } finally {
      this.keeps.replace(new Map());
    }
  }

  private async once(signal: AbortSignal): Promise<void> {
    if (this.resumeFrom === undefined) {
      if (this.streaming === "yes") return await this.streamList(signal);
      await this.pagedList(signal);
    }
    await this.follow(signal);
  }

  /** The server ended the watch in an orderly way: decides when the next one begins. */
  private afterEnd(): number {
    const next = this.backoff.after(this.ending("ended"));
    if (next.short !== undefined) this.doesNotLast("the server ended it", next.short, next.delayMs);
    return next.delayMs;
  }

  /** Decides what the next attempt does, and when. */
  private after(error: unknown): number {
    const { log, client } = this.options;
    const reason = restartReason(error);
    this.options.onRestart?.(reason);
    this.lastBookmark = undefined;
    if (this.streaming === "yes" && this.resumeFrom === undefined && refusesStreaming(error)) {
      log.debug("the API server has no streaming lists, listing in pages", { watch: this.what });
      this.streaming = error instanceof IdleWatchError ? "not now" : "never";
      return 0;
    }
    if (reason === "gone" && this.resumeFrom !== undefined) {
      this.resumeFrom = undefined;
      const { short, delayMs } = this.backoff.after(this.ending("gone"));
      if (short === undefined) log.debug("watch history is gone, listing again", { watch: this.what });
      else this.doesNotLast("the server has no history of its own list (410)", short, delayMs);
      return delayMs;
    }
    if (error instanceof ApiError && error.status === 401) client.forgetCredentials();
    if (this.openSince !== undefined && (error instanceof ConnectionError || reason === "idle")) {
      // The network cut a watch that the server had accepted, which is common: resume soon, at a random moment to spread the watches.
      const { short, delayMs } = this.backoff.after(this.ending("cut"));
      if (short !== undefined) this.doesNotLast(messageOf(error), short, delayMs);
      log.debug("watch was cut", { watch: this.what, error });
      return delayMs;
    }
    this.problem = messageOf(error);
    this.forbidden = isForbidden(error);
    if (this.resumeFrom !== undefined && reason === "refused") {
      this.failedResumes += 1;
      if (this.failedResumes >= MAX_FAILED_RESUMES) this.resumeFrom = undefined;
    }
    // A later version of the object may fit, so the next attempt lists again instead of resuming at this event.
    if (error instanceof AnswerLimitError) this.resumeFrom = undefined;
    const askedMs = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
    const answered = error instanceof ApiError;
    const { forbidden } = this;
    const { delayMs } = this.backoff.after({ ...this.ending("failed"), answered, forbidden, askedMs });
    log.warn("watch failed", { watch: this.what, error, retryInMs: Math.round(delayMs) });
    return delayMs;
  }

  private ending(how: WatchEnd["how"]): WatchEnd {
    const { openSince } = this;
    const openMs = openSince === undefined ? 0 : this.options.clock.monotonic() - openSince;
    return { how, openMs };
  }

  private doesNotLast(why: string, times: number, delayMs: number): void {
    const retryInMs = Math.round(delayMs);
    this.problem = `${this.what}: ${why} within ${LASTING_MS / 1000} s of its beginning, ${times} times in a row`;
    this.options.log.warn("watch does not last", { watch: this.what, why, times, retryInMs });
  }

  private path(query: Record<string, string | number | boolean | undefined>): string {
    const { kind, selection } = this.options;
    const { namespace, labelSelector, fieldSelector } = selection;
    return withQuery(collectionPath(kind, namespace), { ...query, labelSelector, fieldSelector });
  }

  private async streamList(signal: AbortSignal): Promise<void> {
    let listing: Map<string, T> | undefined = new Map();
    const costs = new ListCosts(this.keeps, this.options.client.limits.listBytes);
    await this.read(
      signal,
      { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" },
      (event, bytes) => {
        if (listing === undefined) return this.take(event, bytes);
        if (event.type !== "BOOKMARK") {
          const object = this.keep(event.object);
          if (object === undefined) return;
          const key = keyOf(object);
          costs.set(key, bytes);
          if (event.type === "DELETED") {
            listing.delete(key);
            costs.delete(key);
          } else listing.set(key, object);
          return;
        }
        if (!isInitialEventsEnd(event.object)) return;
        const version = versionOf(event.object);
        this.keeps.replace(costs.byKey);
        this.resumeFrom = version;
        this.options.sink.replace(listing);
        listing = undefined;
        this.succeeded();
      },
      () => (listing === undefined ? this.idleMs() : INITIAL_IDLE_MS),
    );
    if (listing !== undefined && !signal.aborted) throw new IncompleteListError(this.what);
  }

  private async pagedList(signal: AbortSignal): Promise<void> {
    const { client, kind, selection, sink } = this.options;
    this.openSince = undefined;
    const listing = new Map<string, T>();
    // The pages of a list are bounded by whoever reads them.
    const costs = new ListCosts(this.keeps, Infinity);
    let version: string | undefined;
    for await (const page of client.listPages(kind, selection, { signal })) {
      for (const item of page.items) {
        const object = this.slim(item);
        const key = keyOf(object);
        costs.set(key, page.bytes / page.items.length);
        listing.set(key, object);
      }
      version = page.resourceVersion;
    }
    if (signal.aborted) return;
    this.keeps.replace(costs.byKey);
    this.resumeFrom = version;
    sink.replace(listing);
    if (this.streaming === "not now") this.streaming = "yes";
    this.succeeded();
  }

  private async follow(signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.resumeFrom === undefined) return;
    await this.read(
      signal,
      { resourceVersion: this.resumeFrom },
      (event, bytes) => this.take(event, bytes),
      () => this.idleMs(),
    );
    this.succeeded();
  }

  private async read(
    signal: AbortSignal,
    query: Record<string, string | boolean>,
    onEvent: (event: WatchEvent, bytes: number) => void,
    idleMs: () => number,
  ): Promise<void> {
    const { client, clock } = this.options;
    this.openSince = undefined;
    let lasting: Timer | undefined;
    const timeoutSeconds = Math.round(WATCH_SECONDS * (1 + Math.random()));
    try {
      await readWatch(client, {
        what: this.what,
        path: this.path({ watch: true, allowWatchBookmarks: true, timeoutSeconds, ...query }),
        signal,
        idleMs,
        onOpen: () => {
          this.openSince = clock.monotonic();
          lasting = clock.after(LASTING_MS, () => this.lasted());
        },
        onEvent,
      });
    } finally {
      lasting?.cancel();
    }
  }

  private take(event: WatchEvent, bytes: number): void {
    const { sink } = this.options;
    const version = versionOf(event.object);
    switch (event.type) {
      case "BOOKMARK":
        this.noteBookmark();
        break;
      case "DELETED": {
        const object = this.keep(event.object);
        if (object === undefined) break;
        this.keeps.delete(object);
        sink.delete(keyOf(object), object);
        break;
      }
      case "ADDED":
      case "MODIFIED": {
        const object = this.keep(event.object);
        if (object === undefined) break;
        this.keeps.set(object, bytes);
        sink.set(object);
        break;
      }
    }
    // Set last, so that an event that throws comes again.
    this.resumeFrom = version;
    this.succeeded();
  }

  /**
   * An object that is not of its kind's shape is left out, or stays as it was: one bad object must stop neither the watch nor,
   * as if it were gone, have its dependents cleaned up.
   */
  private keep(value: unknown): T | undefined {
    try {
      return this.slim(this.options.kind.fromApiServer(value));
    } catch (error) {
      if (!(error instanceof InvalidObjectError)) throw error;
      this.options.log.error("the API server returned an object that is not valid", {
        watch: this.what,
        error,
      });
      const key = keyOfUnknown(value);
      return key === undefined ? undefined : this.options.kept(key);
    }
  }

  private slim(object: T): T {
    // Not deleted: V8 keeps the memory of a deleted property, which is a third of the object.
    object.metadata.managedFields = undefined;
    const projected = this.options.project(object);
    const kept = this.options.kept(keyOf(projected));
    return kept !== undefined && sameVersion(kept, projected) ? kept : projected;
  }

  private succeeded(): void {
    this.backoff.succeeded();
    this.failedResumes = 0;
    this.forbidden = false;
    // A list that comes before the next watch that ends at once is no end of the problem.
    if (!this.backoff.flapping) this.problem = undefined;
  }

  private lasted(): void {
    this.backoff.lasted();
    if (this.resumeFrom !== undefined) this.problem = undefined;
  }

  private noteBookmark(): void {
    const now = this.options.clock.monotonic();
    if (this.lastBookmark !== undefined) {
      this.bookmarkIntervalMs = Math.max(BOOKMARK_INTERVAL_MS, Math.min(600_000, now - this.lastBookmark));
    }
    this.lastBookmark = now;
  }

  private idleMs(): number {
    return this.bookmarkIntervalMs * 2 + 10_000;
  }
}

const DIGITS = /^\d+$/;

/** A streaming list that ended before its end mark. */
class IncompleteListError extends Error {
  constructor(what: string) {
    super(`${what}: the list ended before it was complete`);
  }
}

function keyOfUnknown(value: unknown): string | undefined {
  if (!isRecord(value) || !isRecord(value.metadata)) return undefined;
  const { name, namespace } = value.metadata;
  if (typeof name !== "string") return undefined;
  return keyOfRef({ name, namespace: typeof namespace === "string" ? namespace : undefined });
}
