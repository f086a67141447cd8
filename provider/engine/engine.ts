import { existsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

import { findExecutable } from "../local-cluster/find-executable";
import { compileCache } from "../local-cluster/folders";
import { ensureTools, missingTools, type EnsureToolsOptions } from "../local-cluster/toolchain";
import type { Tool } from "../local-cluster/toolchain/tool";
import { bundleEngine, languageHost, sdkFolder } from "./engine-bundle";
import { linkPackage } from "./package-link";
import { homeVariables } from "./pulumi-home";
import { ensureResourcePlugins, pluginBuilds, pluginNames, type PluginName } from "./resource-plugins";

/** A Pulumi engine that is ready to run programs of this package. */
export interface PulumiEngine {
  /** Full path of the CLI. */
  pulumi: string;
  /** The whole environment to run the CLI in, and to give to the Automation API. */
  environment: Record<string, string>;
}

export interface PreparePulumiOptions extends EnsureToolsOptions {
  /** The resource plugins that will be asked for; all that our components need by default. */
  resourcePlugins?: readonly PluginName[];
}

/**
 * Gets the Pulumi engine ready: the CLI, the language host for Node, the plugin for dynamic resources and the resource plugins, and an
 * environment in which each finds the others. The official CLI on the PATH is used with what comes with it; what is missing is downloaded,
 * or built where it cannot be.
 *
 * @throws if a piece can be had in no way; the message names it
 */
export async function preparePulumi(options: PreparePulumiOptions = {}): Promise<PulumiEngine> {
  const given = options.environment ?? process.env;
  linkPackage();
  const found = (await ensureTools(["pulumi"], options)).of("pulumi");
  const isWhole =
    existsSync(join(dirname(found), languageHost)) || findExecutable(languageHost, given) !== undefined;
  const pulumi = isWhole ? found : bundleEngine(found);
  // This very Node comes first: the language host and the dynamic provider start `node` by its name.
  const tools = [dirname(process.execPath), dirname(pulumi), sdkFolder()];
  const environment: NodeJS.ProcessEnv = {
    ...given,
    ...homeVariables(given),
    PULUMI_SKIP_UPDATE_CHECK: "true",
    // What `clusterProvider` sets, for plugins that do not know that setting, as 4.25 does not.
    PULUMI_K8S_ENABLE_PATCH_FORCE: given["PULUMI_K8S_ENABLE_PATCH_FORCE"] ?? "true",
    // Checking the types of @pulumi/kubernetes takes seconds each run; "npm run build" checks the programs once.
    PULUMI_NODEJS_TRANSPILE_ONLY: given["PULUMI_NODEJS_TRANSPILE_ONLY"] ?? "true",
    // Each run starts processes of Node that load the SDK and this package.
    NODE_COMPILE_CACHE: compileCache(given),
    PATH: pathWith(tools, given),
  };
  // Set by people who keep plugins off their PATH; ours may be nowhere else.
  delete environment["PULUMI_IGNORE_AMBIENT_PLUGINS"];
  const plugins = await ensureResourcePlugins(options.resourcePlugins ?? pluginNames, pulumi, {
    ...options,
    environment,
  });
  return { pulumi, environment: defined({ ...environment, PATH: pathWith([...tools, ...plugins], given) }) };
}

/** The tools that `preparePulumi` would have to download or build, in the order in which it does. */
export async function missingPulumiTools(options: PreparePulumiOptions = {}): Promise<Tool[]> {
  const given = options.environment ?? process.env;
  const environment = { ...given, ...homeVariables(given) };
  const plugins = options.resourcePlugins ?? pluginNames;
  return [
    ...(await missingTools(["pulumi"], options)),
    ...(await pluginBuilds(plugins, { ...options, environment })),
  ];
}

function pathWith(folders: readonly string[], environment: NodeJS.ProcessEnv): string {
  return [...new Set([...folders, ...(environment["PATH"] ?? "").split(delimiter)])].join(delimiter);
}

function defined(environment: NodeJS.ProcessEnv): Record<string, string> {
  const entries = Object.entries(environment);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
