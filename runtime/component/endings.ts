import { type Clock, sleep } from "../kube";

/** For leases to be given back. */
const ENDINGS_MS = 5_000;

/** Waits for what is to be done at a process's end: not longer than five seconds, and without a timer left behind that would keep the process. */
export async function untilEnded(endings: Iterable<Promise<unknown>>, clock: Clock): Promise<void> {
  const done = new AbortController();
  await Promise.race([Promise.allSettled(endings), sleep(clock, ENDINGS_MS, done.signal)]);
  done.abort();
}
