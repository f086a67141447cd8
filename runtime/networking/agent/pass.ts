import {
  type Clock,
  coalesced,
  type Controller,
  type Outcome,
  type ReconcileRun,
  runController,
  type Source,
  type Timer,
} from "../../kube";
import type { AgentContext } from "./agent";

/** Changes within this time are carried out together. */
const TOGETHER_MS = 50;

interface PassOptions {
  /** Names it in logs and metrics. */
  name: string;
  /** With one key, the pass's name. */
  sources: Source[];
  pass: (run: ReconcileRun) => Promise<Outcome>;
}

/** Something that is always done as a whole: compare everything that is wanted with the kernel, and write what differs. */
export interface Pass {
  /** One more, because something outside of the API has changed. */
  again(): void;
  /** Resolves when one has come to its end. */
  readonly first: Promise<void>;
  readonly controller: Controller;
}

/** Runs a pass whenever one of the sources has something, and from time to time. */
export function runPass({ runtime, resyncMs }: AgentContext, options: PassOptions): Pass {
  const { name, sources, pass } = options;
  const { clock, signal } = runtime;
  let done: () => void = () => undefined;
  const first = new Promise<void>((resolve) => (done = resolve));
  let requested: (() => void) | undefined;
  const others: Source = {
    start: (enqueue) => {
      requested = () => enqueue(name);
      enqueue(name);
      return () => (requested = undefined);
    },
    whenSynced: () => Promise.resolve(),
  };
  const controller = runController(
    {
      name,
      workers: 1,
      sources: [...sources, others].map((source) => coalesced(source, clock, TOGETHER_MS)),
      reconcile: async (_key, run) => {
        const outcome = await pass(run);
        done();
        return outcome;
      },
    },
    runtime,
  );
  every(clock, resyncMs, signal, () => requested?.());
  return { again: () => requested?.(), first, controller };
}

/** Does something again and again, for the first time after one interval, until the signal is aborted: then nothing waits any more. */
export function every(clock: Clock, ms: number, signal: AbortSignal, act: () => void): void {
  if (signal.aborted) return;
  let timer: Timer;
  const wait = () => {
    timer = clock.after(ms, () => {
      act();
      if (!signal.aborted) wait();
    });
  };
  wait();
  signal.addEventListener("abort", () => timer.cancel(), { once: true });
}
