import { Command } from "commander";

import type { GlobalFlags } from "./options";
import { type Run, withRun } from "./run";
import { Progress } from "./terminal/progress";
import type { Terminal } from "./terminal/terminal";

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
