/** Looks until a value is there, and remembers how long each thing was waited for. */

export interface UntilOptions {
  timeoutMs?: number;
  everyMs?: number;
}

const waited = new Map<string, number>();

/** What `look` returns once that is not undefined or false. @throws after `timeoutMs` (60 s), with the last error as cause */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  { timeoutMs = 60_000, everyMs = 25 }: UntilOptions = {},
): Promise<T> {
  const start = performance.now();
  const deadline = Date.now() + timeoutMs;
  let last: unknown;
  try {
    do {
      try {
        const value = await look();
        if (value !== undefined && value !== false) return value;
      } catch (error) {
        last = error;
      }
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    } while (Date.now() < deadline);
  } finally {
    waited.set(what, (waited.get(what) ?? 0) + performance.now() - start);
  }
  throw new Error(`${what}: not within ${timeoutMs / 1000} s`, { cause: last });
}

/** What this process waited for, longest first. */
export function waits(): { what: string; seconds: number }[] {
  return [...waited]
    .map(([what, ms]) => ({ what, seconds: ms / 1000 }))
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, 10);
}
