/** A command that did not do what it was asked. The message is for people: the object, the field, the value, and in `next` the way out. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";

  constructor(
    message: string,
    /** What to look at or to type. */
    readonly next?: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** `--timeout` is over. */
export class TimedOut extends CommandError {
  override readonly name = "TimedOut";

  constructor(timeoutMs: number) {
    super(
      "timed out waiting for the condition",
      `the same command goes on from here; --timeout, ${timeoutMs / 1000} s now, gives it longer`,
    );
  }
}

/** Ctrl-C, or a signal of that meaning. */
export class Interrupted extends CommandError {
  override readonly name = "Interrupted";

  constructor() {
    super("interrupted", "what is done is kept; the same command goes on from here");
  }
}

/** An error with what was being done in front. Steps inside steps say it once. */
export function during(what: string, error: unknown): CommandError {
  const message = error instanceof Error ? error.message : String(error);
  const next = error instanceof CommandError ? error.next : undefined;
  return new CommandError(`${what}: ${message}`, next, { cause: error });
}
