import { existsSync } from "node:fs";
import { join } from "node:path";

import { findExecutable } from "../local-cluster/find-executable";
import { runCommand } from "../local-cluster/run-command";
import {
  ensureTools,
  missingTools,
  suppliedTool,
  type EnsureToolsOptions,
  type ToolName,
} from "../local-cluster/toolchain";
import type { Tool } from "../local-cluster/toolchain/tool";
import { sdkVersion } from "../local-cluster/toolchain/tool-catalogue";

/** The resource plugins that our components need. Each has the version of the npm package with its name. */
export const pluginNames = ["kubernetes", "random"] as const;
export type PluginName = (typeof pluginNames)[number];

/** How to build each where it cannot be downloaded. */
const tools: Readonly<Record<PluginName, ToolName>> = {
  kubernetes: "pulumi-kubernetes",
  random: "pulumi-random",
};

type Options = EnsureToolsOptions & { environment: NodeJS.ProcessEnv };

/**
 * Sees to it that the engine finds the resource plugins: on the PATH, in its plugin folder, in the folder or mirror that
 * `PULUMI_LIQO_TOOLS` names, by the engine's own download, or else built from their Go modules.
 *
 * @returns folders to put on the PATH, for those that the engine does not find by itself
 */
export async function ensureResourcePlugins(
  names: readonly PluginName[],
  pulumi: string,
  options: Options,
): Promise<string[]> {
  const { environment } = options;
  const folders: string[] = [];
  const missing: PluginName[] = [];
  for (const name of names) {
    if (findPlugin(name, environment) !== undefined) continue;
    const supplied = await suppliedTool(tools[name], options);
    if (supplied === undefined) missing.push(name);
    else folders.push(...supplied.folders());
  }
  if (missing.length === 0) return folders;
  const build: ToolName[] = [];
  const downloads = await isPluginServerReachable(environment);
  for (const name of missing) {
    if (!downloads || !(await download(name, pulumi, options))) build.push(tools[name]);
  }
  return [...folders, ...(await ensureTools(build, options)).folders()];
}

/** The tools that would be built for these plugins if the engine cannot download them. */
export async function pluginBuilds(names: readonly PluginName[], options: Options): Promise<Tool[]> {
  const absent = names.filter((name) => findPlugin(name, options.environment) === undefined);
  return missingTools(
    absent.map((name) => tools[name]),
    options,
  );
}

/** The plugin that the engine takes in an environment: on its PATH, else the one in its plugin folder. */
export function findPlugin(name: PluginName, environment: NodeJS.ProcessEnv): string | undefined {
  const binary = `pulumi-resource-${name}`;
  const ambient = findExecutable(binary, environment);
  if (ambient !== undefined) return ambient;
  const folder = `resource-${name}-v${sdkVersion(name)}`;
  const installed = join(environment["PULUMI_HOME"] ?? "", "plugins", folder, binary);
  return existsSync(installed) ? installed : undefined;
}

async function isPluginServerReachable(environment: NodeJS.ProcessEnv): Promise<boolean> {
  // The engine goes through a proxy where one is set; this probe would not.
  if (environment["HTTPS_PROXY"] || environment["https_proxy"]) return true;
  try {
    await fetch("https://get.pulumi.com", { method: "HEAD", signal: AbortSignal.timeout(4_000) });
    return true;
  } catch {
    return false;
  }
}

async function download(name: PluginName, pulumi: string, options: Options): Promise<boolean> {
  const version = sdkVersion(name);
  options.progress?.(`Pulumi plugin ${name} ${version}: downloading`);
  try {
    await runCommand(pulumi, ["plugin", "install", "resource", name, version], {
      env: options.environment,
      timeoutMs: 300_000,
      ...(options.signal && { signal: options.signal }),
    });
    return true;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    options.progress?.(`Pulumi plugin ${name} ${version}: no download (${reason}); building it`);
    return false;
  }
}
