import { type Clock, sleep } from "../kube";

/** For leases to be given back. */
const SHUTDOWN_MS = 5_000;

/** Waits for what is to be done at a process's end: not longer than five seconds, and without a timer left behind that would keep the process. */
export async function untilShutDown(shutdown: Iterable<Promise<unknown>>, clock: Clock): Promise<void> {
  const done = new AbortController();
  await Promise.race([Promise.allSettled(shutdown), sleep(clock, SHUTDOWN_MS, done.signal)]);
  done.abort();
}
