import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import { z } from "zod";

import { packageRoot } from "../../runtime/api/package-root";
import { findExecutable } from "../local-cluster/find-executable";
import { runCommand } from "../local-cluster/run-command";
import { ensureTools, type EnsureToolsOptions, type ToolName } from "../local-cluster/toolchain";

/** The resource plugins that our components need. Each has the version of the npm package with its name. */
export const pluginNames = ["kubernetes", "random"] as const;
export type PluginName = (typeof pluginNames)[number];

/** How to build each where it cannot be downloaded. */
const tools: Readonly<Record<PluginName, ToolName>> = {
  kubernetes: "pulumi-kubernetes",
  random: "pulumi-random",
};

const manifestSchema = z.object({ version: z.string() });

/**
 * Sees to it that the engine finds the resource plugins: on the PATH, in its plugin folder, by the engine's own download, or else built
 * from their Go modules.
 *
 * @returns folders to put on the PATH, for the ones that were built
 */
export async function ensureResourcePlugins(
  names: readonly PluginName[],
  pulumi: string,
  options: EnsureToolsOptions & { environment: NodeJS.ProcessEnv },
): Promise<string[]> {
  const { environment } = options;
  const missing = names.filter((name) => !isPresent(name, environment));
  if (missing.length === 0) return [];
  const build: ToolName[] = [];
  const downloads = await isPluginServerReachable(environment);
  for (const name of missing) {
    if (!downloads || !(await download(name, pulumi, options))) build.push(tools[name]);
  }
  return (await ensureTools(build, options)).folders();
}

function isPresent(name: PluginName, environment: NodeJS.ProcessEnv): boolean {
  const installed = join(
    environment["PULUMI_HOME"] ?? "",
    "plugins",
    `resource-${name}-v${versionOf(name)}`,
    `pulumi-resource-${name}`,
  );
  return existsSync(installed) || findExecutable(`pulumi-resource-${name}`, environment) !== undefined;
}

function versionOf(name: PluginName): string {
  const resolve = createRequire(join(packageRoot(), "package.json"));
  return manifestSchema.parse(
    JSON.parse(readFileSync(resolve.resolve(`@pulumi/${name}/package.json`), "utf8")),
  ).version;
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

async function download(
  name: PluginName,
  pulumi: string,
  options: EnsureToolsOptions & { environment: NodeJS.ProcessEnv },
): Promise<boolean> {
  const version = versionOf(name);
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
