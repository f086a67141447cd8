import type { Clock, Timer } from "../../kube";

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
