import type { KubeObject } from "../api/meta";
import type { SharedCache } from "./shared-cache";
import { keyOfRef } from "./keys";

/** Told of each change of a cache. Calls are synchronous and in the order of the changes. */
export interface InformerHandlers<T> {
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
