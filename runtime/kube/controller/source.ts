import type { KubeObject } from "../../api/meta";
import type { Informer } from "../cache/informer";
import { keyOf } from "../client/object-reference";
import type { Clock, Timer } from "../clock";

/** Gives a controller the keys to reconcile. */
export interface Source {
  /** Starts to enqueue keys. The function returned stops it. */
  start(enqueue: (key: string) => void): () => void;
  /** Resolves when the keys of everything that existed at the start are enqueued. */
  whenSynced(): Promise<void>;
}

/** A change of an informer's cache. */
export type SourceEvent<T> =
  { type: "added"; object: T } | { type: "updated"; before: T; object: T } | { type: "deleted"; object: T };

export interface WatchesOptions<T> {
  /** Keys to reconcile because of an object. Default: its own. */
  keys?: (object: T) => string[];
  /** Whether a change concerns the controller. Default: every change. */
  when?: (event: SourceEvent<T>) => boolean;
}

/** Reconciles the keys that a change concerns; of an update, those of the object before it too. */
export function watches<T extends KubeObject>(
  informer: Informer<T>,
  options: WatchesOptions<T> = {},
): Source {
  const { keys = (object: T) => [keyOf(object)], when } = options;
  return {
    start: (enqueue) => {
      const all = (objects: T[]) => {
        for (const object of objects) for (const key of keys(object)) enqueue(key);
      };
      const on = (event: SourceEvent<T>) => {
        if (when !== undefined && !when(event)) return;
        all(event.type === "updated" ? [event.before, event.object] : [event.object]);
      };
      return informer.on({
        added: (object) => on({ type: "added", object }),
        updated: (before, object) => on({ type: "updated", before, object }),
        deleted: (object) => on({ type: "deleted", object }),
      });
    },
    whenSynced: () => informer.whenSynced(),
  };
}

/** A predicate: false for an update that changes nothing but the status. */
export function exceptStatus<T extends KubeObject>(event: SourceEvent<T>): boolean {
  if (event.type !== "updated") return true;
  const [before, after] = [event.before.metadata, event.object.metadata];
  return (
    before.generation !== after.generation ||
    after.generation === undefined ||
    before.deletionTimestamp !== after.deletionTimestamp ||
    !sameMap(before.labels, after.labels) ||
    !sameMap(before.annotations, after.annotations) ||
    before.finalizers?.join() !== after.finalizers?.join()
  );
}

/** Whether two maps of labels, annotations or data have the same entries. An absent map is an empty one. */
export function sameMap(a: Record<string, string> = {}, b: Record<string, string> = {}): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

/** A source that hands over a key once for everything that happens to it within a time. The time runs from the first change. */
export function coalesced(source: Source, clock: Clock, withinMs: number): Source {
  return {
    start: (enqueue) => {
      const waiting = new Map<string, Timer>();
      const end = source.start((key) => {
        if (waiting.has(key)) return;
        const timer = clock.after(withinMs, () => {
          waiting.delete(key);
          enqueue(key);
        });
        waiting.set(key, timer);
      });
      return () => {
        end();
        for (const timer of waiting.values()) timer.cancel();
        waiting.clear();
      };
    },
    whenSynced: () => source.whenSynced(),
  };
}
