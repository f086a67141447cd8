import { CommandError } from "../failure";
import type { Run } from "../run";

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
