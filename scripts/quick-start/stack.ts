import { existsSync } from "node:fs";
import { join } from "node:path";

import { type EngineEvent, LocalWorkspace, type OutputMap, Stack } from "@pulumi/pulumi/automation";

import { workspaceOptions } from "../../provider/engine/automation";
import type { PulumiEngine } from "../../provider/engine/engine";
import { packageRoot } from "../../runtime/api/package-root";
import { clearStaleLock, endHolders, lockHolders } from "./stack-lock";
import { removeTraces } from "./stack-traces";

/** Folder of the quick start's Pulumi project. */
export const projectFolder = join(packageRoot(), "examples", "quick-start");
export const STACK_NAME = "local";

const PROJECT = "quick-start";

/**
 * Makes the stack of the quick start, or finds it, ready to be worked on.
 *
 * @throws if another process works on it
 */
export async function quickStartStack(engine: PulumiEngine): Promise<Stack> {
  const stack = await Stack.createOrSelect(STACK_NAME, await workspace(engine));
  await clearStaleLock(stack, holdersOf(engine));
  return stack;
}

/** Forgets the stack without touching what it made: for when the clusters themselves are gone. */
export async function forgetStack(engine: PulumiEngine): Promise<void> {
  const project = await workspace(engine);
  const known = await project.listStacks();
  if (known.some(({ name }) => name === STACK_NAME)) {
    await clearStaleLock(await Stack.select(STACK_NAME, project), holdersOf(engine));
    await project.removeStack(STACK_NAME, { force: true });
  }
  removeTraces(engine.environment["PULUMI_BACKEND_URL"], PROJECT, STACK_NAME);
}

/** Whether there is a stack at all; the CLI keeps its settings in the project's folder as long as there is. */
export function stackWasMade(): boolean {
  return existsSync(join(projectFolder, `Pulumi.${STACK_NAME}.yaml`));
}

/** Ends whatever works on the stack. */
export async function endWork(engine: PulumiEngine): Promise<void> {
  await endHolders(holdersOf(engine));
}

function holdersOf(engine: PulumiEngine): number[] {
  return lockHolders(engine.environment["PULUMI_BACKEND_URL"], PROJECT, STACK_NAME);
}

async function workspace(engine: PulumiEngine): Promise<LocalWorkspace> {
  return LocalWorkspace.create({ workDir: projectFolder, ...(await workspaceOptions(engine)) });
}

export interface UpOptions {
  onEvent: (event: EngineEvent) => void;
  /** Receives all that the CLI prints. */
  onOutput: (text: string) => void;
  signal: AbortSignal;
}

/** `pulumi up`. */
export async function up(stack: Stack, { onEvent, onOutput, signal }: UpOptions): Promise<OutputMap> {
  const { outputs } = await stack.up({ onEvent, onOutput, onError: onOutput, signal, showSecrets: true });
  return outputs;
}
