import { join } from "node:path";

import { type EngineEvent, LocalWorkspace, type OutputMap, Stack } from "@pulumi/pulumi/automation";

import { workspaceOptions } from "../../provider/engine/automation";
import type { PulumiEngine } from "../../provider/engine/engine";
import { packageRoot } from "../../runtime/api/package-root";

/** Folder of the quick start's Pulumi project. */
export const projectFolder = join(packageRoot(), "examples", "quick-start");
export const STACK_NAME = "local";

/** Makes the stack of the quick start, or finds it. */
export async function quickStartStack(engine: PulumiEngine): Promise<Stack> {
  return Stack.createOrSelect(STACK_NAME, await workspace(engine));
}

/** Forgets the stack without touching what it made: for when the clusters themselves are gone. */
export async function forgetStack(engine: PulumiEngine): Promise<void> {
  const project = await workspace(engine);
  const known = await project.listStacks();
  if (!known.some(({ name }) => name === STACK_NAME)) return;
  await project.removeStack(STACK_NAME, { force: true });
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
