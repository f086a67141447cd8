import { Command, CommanderError } from "commander";

import { authenticateCommand, unauthenticateCommand } from "./commands/authenticate";
import { createCommand } from "./commands/create";
import { deleteCommand } from "./commands/delete";
import { forceCommand } from "./commands/force";
import { generateCommand, getCommand } from "./commands/generate";
import { infoCommand } from "./commands/info";
import { networkCommand } from "./commands/network";
import { offloadCommand, unoffloadCommand } from "./commands/offload";
import { peerCommand } from "./commands/peer";
import { switchCommands } from "./commands/tenant-switches";
import { unpeerCommand } from "./commands/unpeer";
import { versionCommand } from "./commands/version";
import type { CommandContext } from "./command";
import { CommandError } from "./failure";
import { globalOptions } from "./options";
import { Progress } from "./terminal/progress";
import type { Terminal } from "./terminal/terminal";

/** `liqoctl` with all its commands (control plane reference 17.2). */
export function liqoctl(context: CommandContext): Command {
  const { terminal } = context;
  const program = new Command("liqoctl")
    .description("peer Kubernetes clusters, and offload namespaces to them")
    .helpCommand(true);
  for (const option of globalOptions()) program.addOption(option);
  for (const command of [
    versionCommand(context),
    infoCommand(context),
    peerCommand(context),
    unpeerCommand(context),
    networkCommand(context),
    authenticateCommand(context),
    unauthenticateCommand(context),
    createCommand(context),
    deleteCommand(context),
    offloadCommand(context),
    unoffloadCommand(context),
    ...switchCommands(context),
    generateCommand(context),
    getCommand(context),
    forceCommand(context),
  ])
    program.addCommand(command);
  everyCommand(program, (command) => {
    command
      .exitOverride()
      .showSuggestionAfterError()
      .configureHelp({ showGlobalOptions: true })
      .configureOutput({ writeOut: (text) => terminal.out(text), writeErr: (text) => terminal.err(text) });
  });
  return program;
}

function everyCommand(command: Command, work: (command: Command) => void): void {
  work(command);
  for (const child of command.commands) everyCommand(child, work);
}

/**
 * Runs one command line.
 *
 * @param words without the program
 * @returns the exit status: 0, or 1 with the reason on the error stream
 */
export async function runLiqoctl(
  words: readonly string[],
  terminal: Terminal,
  interrupt: AbortSignal,
): Promise<number> {
  try {
    await liqoctl({ terminal, interrupt }).parseAsync([...words], { from: "user" });
    return 0;
  } catch (error) {
    // Commander has written what is wrong, or the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 1;
    const progress = new Progress(terminal);
    progress.error(undefined, error instanceof Error ? error.message : String(error));
    if (error instanceof CommandError && error.next !== undefined)
      progress.info(undefined, `next: ${error.next}`);
    return 1;
  }
}
