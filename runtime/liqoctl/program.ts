import { Command, CommanderError } from "commander";

import { authenticateCommand, unauthenticateCommand } from "./commands/authenticate";
import { createCommand } from "./commands/create";
import { deleteCommand } from "./commands/delete";
import { forceCommand, unpeerCommand } from "./commands/unpeer";
import { generateCommand, getCommand } from "./commands/generate";
import { infoCommand, versionCommand } from "./commands/info";
import { networkCommand } from "./commands/network";
import { offloadCommand, unoffloadCommand } from "./commands/offload";
import { peerCommand } from "./commands/peer";
import { switchCommands } from "./commands/tenant-switches";
import { CommandError } from "./failure";
import { globalOptions } from "./options";
import type { CommandContext } from "./run";
import { Progress, type Terminal } from "./terminal";

/** As package.json has it in `engines`: older ones lack what certificates are read with. */
const OLDEST = { major: 22, minor: 19 };

/**
 * What is wrong with the Node that runs this; undefined where it will do.
 *
 * @param version such as `24.1.0`
 */
export function nodeVersionFault(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor)) return undefined;
  return `liqoctl needs Node ${OLDEST.major}.${OLDEST.minor} or later, and this is ${version}; in a clone there is one: node_modules/.bin/node`;
}

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
