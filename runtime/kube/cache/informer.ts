import type { KubeObject } from "../../api/meta";
import { keyOfRef } from "../client/object-reference";
import type { Logger } from "../log";
import { Reflector, type ReflectorOptions } from "./reflector";
import { type Change, Store } from "./store";

/** Told of each change of a cache. Calls are synchronous and in the order of the changes. */
interface InformerHandlers<T> {
  added?: (object: T) => void;
  updated?: (before: T, after: T) => void;
  /** The last state known; not always the very last, where the deletion happened while there was no watch. */
  deleted?: (object: T) => void;
  /** A whole list has come, and all of its changes were told: what came and went while there was no watch was not. */
  listed?: () => void;
}

/**
 * The objects of one kind and selection, kept up to date by a watch.
 *
 * What it returns is shared with everybody: copy before you change. Until it has synced it answers from what it has, which may be nothing;
 * wait for `whenSynced` before you conclude that something does not exist.
 */
export class Informer<T extends KubeObject> {
  private readonly indexes = new Map<string, (object: T) => string[]>();
  private readonly subscriptions = new Set<() => void>();
  private released = false;

  constructor(
    private readonly cache: SharedCache<T>,
    private readonly onRelease: () => void,
  ) {}

  /** True from the first whole list on. */
  get synced(): boolean {
    return this.cache.synced;
  }

  /** Why the watch is down at the moment, in one sentence; undefined while it is up. */
  get problem(): string | undefined {
    return this.cache.problem;
  }

  /** Whether it is down because the server forbids it. */
  get forbidden(): boolean {
    return this.cache.forbidden;
  }

  get size(): number {
    return this.cache.store.size;
  }

  get(name: string, namespace?: string): T | undefined {
    return this.cache.store.get(keyOfRef({ name, namespace }));
  }

  /** By `namespace/name`, or by name for cluster-scoped kinds. */
  getByKey(key: string): T | undefined {
    return this.cache.store.get(key);
  }

  list(): T[] {
    return this.cache.store.list();
  }

  /** Adding a name again replaces its function. */
  addIndex(name: string, keysOf: (object: T) => string[]): void {
    this.indexes.set(name, keysOf);
    this.cache.store.addIndex(keysOf);
  }

  /** @throws where no index of that name was added */
  byIndex(name: string, key: string): T[] {
    const keysOf = this.indexes.get(name);
    if (keysOf === undefined) {
      const known = [...this.indexes.keys()].join(", ");
      throw new Error(`informer has no index ${name}; it has: ${known === "" ? "none" : known}`);
    }
    return this.cache.store.byIndex(keysOf, key);
  }

  /** Subscribes; what is there already is told as added, at once. Returns the way to end it. */
  on(handlers: InformerHandlers<T>): () => void {
    const end = this.cache.subscribe(handlers);
    this.subscriptions.add(end);
    return () => {
      this.subscriptions.delete(end);
      end();
    };
  }

  /** Whether the cache is as new as an object of this version, the answer to a write: an object that we wrote, and that is not there, is gone. */
  hasReached(version: string): boolean {
    return this.cache.hasReached(version);
  }

  /** Resolves with the first whole list; rejects where the watch is stopped before. */
  whenSynced(): Promise<void> {
    return this.cache.whenSynced();
  }

  /** Ends this user's subscriptions; the watch itself ends with its last user. */
  release(): void {
    if (this.released) return;
    this.released = true;
    for (const end of this.subscriptions) end();
    this.subscriptions.clear();
    this.onRelease();
  }
}

/** One watch, its objects and everybody who listens. */
export class SharedCache<T extends KubeObject> {
  readonly store = new Store<T>();
  synced = false;
  private readonly handlers = new Set<InformerHandlers<T>>();
  private readonly stopping = new AbortController();
  private readonly waiting = new Set<{ resolve: () => void; reject: (error: Error) => void }>();
  private readonly reflector: Reflector<T>;
  private readonly log: Logger;
  private readonly ended: Promise<void>;

  constructor(private readonly options: Omit<ReflectorOptions<T>, "sink" | "kept">) {
    this.log = options.log;
    this.reflector = new Reflector({
      ...options,
      kept: (key) => this.store.get(key),
      sink: {
        replace: (present) => {
          this.tell(this.store.replace(present));
          this.synced = true;
          for (const { resolve } of this.waiting) resolve();
          this.waiting.clear();
          for (const handlers of this.handlers) this.callOne(handlers, { type: "listed" });
        },
        set: (object) => this.tell(this.store.set(object)),
        delete: (key, final) => this.tell(this.store.delete(key, final)),
      },
    });
    this.ended = this.reflector.run(this.stopping.signal);
  }

  /** Names the watch in reports. */
  get what(): string {
    return this.reflector.what;
  }

  get problem(): string | undefined {
    return this.reflector.problem;
  }

  get forbidden(): boolean {
    return this.reflector.forbidden;
  }

  hasReached(version: string): boolean {
    return this.reflector.hasReached(version);
  }

  subscribe(handlers: InformerHandlers<T>): () => void {
    this.handlers.add(handlers);
    for (const object of this.store.list()) this.callOne(handlers, { type: "added", object });
    if (this.synced) this.callOne(handlers, { type: "listed" });
    return () => this.handlers.delete(handlers);
  }

  whenSynced(): Promise<void> {
    if (this.synced) return Promise.resolve();
    if (this.stopping.signal.aborted) return Promise.reject(this.stopped());
    return new Promise((resolve, reject) => this.waiting.add({ resolve, reject }));
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    for (const { reject } of this.waiting) reject(this.stopped());
    this.waiting.clear();
    await this.ended;
  }

  private stopped(): Error {
    const why = this.problem === undefined ? "" : `: ${this.problem}`;
    return new Error(`the watch of ${this.options.kind.plural} was stopped before it had synced${why}`);
  }

  private tell(changes: Change<T>[]): void {
    for (const change of changes) for (const handlers of this.handlers) this.callOne(handlers, change);
  }

  /** A handler that throws is its own problem: the others and the watch go on. */
  private callOne(handlers: InformerHandlers<T>, change: Change<T> | { type: "listed" }): void {
    try {
      if (change.type === "added") handlers.added?.(change.object);
      else if (change.type === "updated") handlers.updated?.(change.before, change.object);
      else if (change.type === "deleted") handlers.deleted?.(change.object);
      else handlers.listed?.();
    } catch (error) {
      this.log.error("a handler of a watch failed", {
        kind: this.options.kind.kind,
        change: change.type,
        error,
      });
    }
  }
}
