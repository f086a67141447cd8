import type { Run } from "../run";

/** Reads a part of what is shown. Where that fails, it says so, and the rest is still shown. */
export async function told<T>(run: Run, what: string, fallback: T, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    run.signal.throwIfAborted();
    const why = error instanceof Error ? error.message : String(error);
    run.progress.warn(undefined, `${what} cannot be read: ${why}`);
    return fallback;
  }
}
