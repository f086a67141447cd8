/** Looks until a value is there. */

export interface UntilOptions {
  timeoutMs?: number;
  everyMs?: number;
}

/** What `look` returns once that is not undefined or false. @throws after `timeoutMs` (60 s), with the last error as cause */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  { timeoutMs = 60_000, everyMs = 25 }: UntilOptions = {},
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  let last: unknown;
  do {
    try {
      const value = await look();
      if (value !== undefined && value !== false) return value;
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  } while (Date.now() < deadline);
  throw new Error(`${what}: not within ${timeoutMs / 1000} s`, { cause: last });
}
