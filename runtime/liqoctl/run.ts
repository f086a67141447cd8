import { Command } from "commander";

import type { CallOptions } from "../kube";
import { CommandError, Interrupted, TimedOut } from "./failure";
import type { GlobalFlags } from "./options";
import { Progress, type Terminal } from "./terminal";

/** One run of a command: until when it may go on, and where it says what it does. */
export interface Run {
  terminal: Terminal;
  progress: Progress;
  /** Ends with Ctrl-C and with the time allowed; its reason is the error to show. */
  signal: AbortSignal;
  /** Limits of one request. */
  call: CallOptions;
  /** Added to what is created. */
  metadata: { labels: Record<string, string>; annotations: Record<string, string> };
  /** Do not ask before something is taken away. */
  skipConfirm: boolean;
}

/** Longest time for one answer of an API server. */
const ANSWER_MS = 15_000;

interface RunOptions extends Pick<Run, "terminal" | "progress" | "metadata" | "skipConfirm"> {
  /** For ever where none is given. */
  timeoutMs?: number;
  /** Ctrl-C. */
  interrupt: AbortSignal;
}

/** Works under a time limit. */
async function withRun<T>(options: RunOptions, work: (run: Run) => Promise<T>): Promise<T> {
  const { timeoutMs, interrupt, ...rest } = options;
  const ended = new AbortController();
  const interrupted = () => ended.abort(new Interrupted());
  if (interrupt.aborted) interrupted();
  interrupt.addEventListener("abort", interrupted, { once: true });
  const timer =
    timeoutMs === undefined ? undefined : setTimeout(() => ended.abort(new TimedOut(timeoutMs)), timeoutMs);
  try {
    const { signal } = ended;
    return await work({ ...rest, signal, call: { signal, deadlineMs: ANSWER_MS } });
  } finally {
    clearTimeout(timer);
    interrupt.removeEventListener("abort", interrupted);
  }
}

/** What every command is built with. */
export interface CommandContext {
  terminal: Terminal;
  /** Ctrl-C. */
  interrupt: AbortSignal;
}

/**
 * The action of a command: its flags with those of the program, under its `--timeout`.
 *
 * @param work gets the words that are no flags, too
 */
export function runs<Flags extends object>(
  { terminal, interrupt }: CommandContext,
  work: (run: Run, flags: Flags & GlobalFlags, words: readonly string[]) => Promise<void>,
): (...given: unknown[]) => Promise<void> {
  return async (...given) => {
    const command = given.at(-1);
    if (!(command instanceof Command)) throw new Error("an action is called with its command");
    const flags = command.optsWithGlobals<Flags & GlobalFlags & { timeout?: number }>();
    await withRun(
      {
        terminal,
        interrupt,
        progress: new Progress(terminal, flags.verbose),
        metadata: { labels: flags.globalLabels ?? {}, annotations: flags.globalAnnotations ?? {} },
        skipConfirm: flags.skipConfirm,
        ...(flags.timeout === undefined ? {} : { timeoutMs: flags.timeout }),
      },
      (run) => work(run, flags, command.args),
    );
  };
}

/** Reads a part of what is shown. Where that fails, it says so, and the rest is still shown. */
export async function readOrWarn<T>(run: Run, what: string, fallback: T, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    run.signal.throwIfAborted();
    const why = error instanceof Error ? error.message : String(error);
    run.progress.warn(undefined, `${what} cannot be read: ${why}`);
    return fallback;
  }
}

/** Asks before something is taken away. Nobody there to answer is a refusal, too. */
export async function confirm(run: Run, what: string): Promise<void> {
  if (run.skipConfirm) return;
  if (!run.terminal.interactive)
    throw new CommandError(`${what}: nobody can be asked whether to`, "give --skip-confirm to do it unasked");
  const answer = await run.terminal.ask(`${what}. Go on? [y/N] `, run.signal);
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError("action aborted");
}

/** Says what is taken away, and asks where somebody can be asked; scripts go on unasked. */
export async function confirmOnTerminal(run: Run, what: string): Promise<void> {
  if (run.terminal.interactive && !run.skipConfirm) await confirm(run, what);
  else run.progress.info(undefined, what);
}
