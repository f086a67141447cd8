import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import { z } from "zod";

import { packageRoot } from "../../runtime/api/package-root";
import { findExecutable } from "../local-cluster/find-executable";
import { runCommand } from "../local-cluster/run-command";
import { ensureTools, type EnsureToolsOptions, type ToolName } from "../local-cluster/toolchain";

/** A resource plugin that our components need, with the npm package that names its version. */
interface PluginNeed {
  name: string;
  package: string;
  /** How to build it where it cannot be downloaded. */
  tool: ToolName;
}

const needs: readonly PluginNeed[] = [
  { name: "kubernetes", package: "@pulumi/kubernetes", tool: "pulumi-kubernetes" },
  { name: "random", package: "@pulumi/random", tool: "pulumi-random" },
];

const manifestSchema = z.object({ version: z.string() });

/**
 * Sees to it that the engine finds the resource plugins: on the PATH, in its plugin folder, by the engine's own download, or else built
 * from their Go modules.
 *
 * @returns folders to put on the PATH, for the ones that were built
 */
export async function ensureResourcePlugins(
  pulumi: string,
  environment: NodeJS.ProcessEnv,
  options: EnsureToolsOptions,
): Promise<string[]> {
  const missing = needs.filter((need) => !isPresent(need, environment));
  if (missing.length === 0) return [];
  const build: ToolName[] = [];
  const downloads = await isPluginServerReachable(environment);
  for (const need of missing) {
    if (!downloads || !(await download(need, pulumi, environment, options))) build.push(need.tool);
  }
  return (await ensureTools(build, options)).folders();
}

function isPresent(need: PluginNeed, environment: NodeJS.ProcessEnv): boolean {
  const installed = join(
    environment["PULUMI_HOME"] ?? "",
    "plugins",
    `resource-${need.name}-v${versionOf(need)}`,
    `pulumi-resource-${need.name}`,
  );
  return existsSync(installed) || findExecutable(`pulumi-resource-${need.name}`, environment) !== undefined;
}

function versionOf(need: PluginNeed): string {
  const resolve = createRequire(join(packageRoot(), "package.json"));
  return manifestSchema.parse(
    JSON.parse(readFileSync(resolve.resolve(`${need.package}/package.json`), "utf8")),
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
  need: PluginNeed,
  pulumi: string,
  environment: NodeJS.ProcessEnv,
  options: EnsureToolsOptions,
): Promise<boolean> {
  const version = versionOf(need);
  options.progress?.(`Pulumi plugin ${need.name} ${version}: downloading`);
  try {
    await runCommand(pulumi, ["plugin", "install", "resource", need.name, version], {
      env: environment,
      timeoutMs: 300_000,
      ...(options.signal && { signal: options.signal }),
    });
    return true;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    options.progress?.(`Pulumi plugin ${need.name} ${version}: no download (${reason}); building it`);
    return false;
  }
}
