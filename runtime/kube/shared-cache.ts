import type { KubeObject } from "../api/meta";
import type { InformerHandlers } from "./informer";
import type { Logger } from "./log";
import { Reflector, type ReflectorOptions } from "./reflector";
import { type Change, Store } from "./store";

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
