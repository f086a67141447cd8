import { setTimeout as pause } from "node:timers/promises";

import { ApiError, ConnectionError, DeadlineError } from "../kube";
import { CommandError, TimedOut } from "./failure";
import type { Run } from "./run";

/** What one look says. */
export type WaitResult<T> =
  | { is: "met"; value: T }
  /** Not yet; what was seen instead. */
  | { is: "open"; seen: string }
  /** It can't come any more. */
  | { is: "refused"; seen: string; next: string };

/** Short waits are common, long ones rare: looks come at this distance first, and at the second later. */
const FIRST_MS = 50;
const LATER_MS = 1_000;

/**
 * Looks until it is met. An API server that does not answer for a while is asked again.
 *
 * @param waiting told what was seen
 * @param next what to look at when it does not come
 */
export async function waitUntil<T>(
  run: Run,
  { waiting, next }: { waiting: (seen: string) => void; next: string },
  look: () => Promise<WaitResult<T>>,
): Promise<T> {
  let seen = "not looked at yet";
  for (let distance = FIRST_MS; ; distance = Math.min(LATER_MS, distance * 1.3)) {
    try {
      run.signal.throwIfAborted();
      const result = await look();
      if (result.is === "met") return result.value;
      if (result.is === "refused") throw new CommandError(result.seen, result.next);
      seen = result.seen;
      waiting(seen);
    } catch (error) {
      if (run.signal.aborted) throw explained(run.signal.reason, seen, next);
      if (!mayPass(error)) throw error;
      seen = error instanceof Error ? error.message : String(error);
      waiting(seen);
    }
    await pause(distance, undefined, { signal: run.signal }).catch(() => undefined);
  }
}

/** Waits until something is gone. */
export async function waitUntilGone(
  run: Run,
  options: { waiting: (seen: string) => void; next: string },
  look: () => Promise<string | undefined>,
): Promise<void> {
  await waitUntil(run, options, async () => {
    const left = await look();
    return left === undefined ? { is: "met", value: undefined } : { is: "open", seen: left };
  });
}

function explained(reason: unknown, seen: string, next: string): Error {
  if (reason instanceof TimedOut)
    return new CommandError(`${reason.message}; last seen: ${seen}`, `${next}; ${reason.next ?? ""}`);
  return reason instanceof Error ? reason : new CommandError(String(reason));
}

/** Whether the next look may find better. */
function mayPass(error: unknown): boolean {
  if (error instanceof ApiError) return error.status >= 500 || error.status === 429;
  return error instanceof ConnectionError || error instanceof DeadlineError;
}
