import type { Clock, Source, Timer } from "../../kube";

/** A source whose keys come once for all that happens to them within a time, counted from the first. */
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
