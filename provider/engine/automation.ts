import { dirname } from "node:path";

import { PulumiCommand, type LocalWorkspaceOptions } from "@pulumi/pulumi/automation";

import type { PulumiEngine } from "./engine";

/** The options with which workspaces of the Automation API use a prepared engine. */
export async function workspaceOptions(
  engine: PulumiEngine,
): Promise<Required<Pick<LocalWorkspaceOptions, "pulumiCommand" | "envVars">>> {
  const pulumiCommand = await PulumiCommand.get({ root: dirname(dirname(engine.pulumi)) });
  return { pulumiCommand, envVars: engine.environment };
}
