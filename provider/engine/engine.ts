import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";

import { packageRoot } from "../../runtime/api/package-root";
import { cacheFolder, checkoutPrefix } from "../local-cluster/folders";
import { findExecutable } from "../local-cluster/find-executable";
import { ensureTools, type EnsureToolsOptions } from "../local-cluster/toolchain";
import { linkPackage } from "./package-link";
import { homeVariables } from "./pulumi-home";
import { ensureResourcePlugins } from "./resource-plugins";

/** A Pulumi engine that is ready to run programs of this package. */
export interface PulumiEngine {
  /** Full path of the CLI. */
  pulumi: string;
  /** The whole environment to run the CLI in, and to give to the Automation API. */
  environment: Record<string, string>;
}

/**
 * Gets the Pulumi engine ready: the CLI, the language host for Node, the plugin for dynamic resources and the resource plugins, and an
 * environment in which each finds the others. The official CLI on the PATH is used with what comes with it; what is missing is downloaded,
 * or built where it cannot be.
 *
 * @throws if a piece can be had in no way; the message names it
 */
export async function preparePulumi(options: EnsureToolsOptions = {}): Promise<PulumiEngine> {
  const given = options.environment ?? process.env;
  linkPackage();
  const pulumi = (await ensureTools(["pulumi"], options)).of("pulumi");
  const base = { ...given, ...homeVariables(given), PULUMI_SKIP_UPDATE_CHECK: "true" };
  const tools = [dirname(process.execPath), dirname(pulumi), sdkFolder()];
  const languageHost =
    existsSync(join(dirname(pulumi), hostName)) || findExecutable(hostName, given) !== undefined;
  if (!languageHost) tools.push(languageHostFolder());
  const environment: NodeJS.ProcessEnv = { ...base, PATH: pathWith(tools, given) };
  const plugins = await ensureResourcePlugins(pulumi, environment, { ...options, environment });
  environment["PATH"] = pathWith([...tools, ...plugins], given);
  // Set by people who keep plugins off their PATH; ours may be nowhere else.
  delete environment["PULUMI_IGNORE_AMBIENT_PLUGINS"];
  return { pulumi, environment: defined(environment) };
}

const hostName = "pulumi-language-nodejs";

/** Folder with `pulumi-resource-pulumi-nodejs`, which runs dynamic resources. */
function sdkFolder(): string {
  const resolve = createRequire(join(packageRoot(), "package.json"));
  return dirname(resolve.resolve("@pulumi/pulumi/package.json"));
}

/** Folder with an executable that starts our own language host. */
function languageHostFolder(): string {
  const folder = join(cacheFolder(), "language-host", checkoutPrefix());
  mkdirSync(folder, { recursive: true });
  const file = join(folder, hostName);
  const main = join(__dirname, "language-host", "main.js");
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `#!/bin/sh\nexec ${quote(process.execPath)} ${quote(main)} "$@"\n`, { mode: 0o755 });
  renameSync(draft, file); // another engine may be starting the present one
  return folder;
}

function quote(path: string): string {
  return `'${path.replaceAll("'", `'\\''`)}'`;
}

function pathWith(folders: readonly string[], environment: NodeJS.ProcessEnv): string {
  return [...new Set([...folders, ...(environment["PATH"] ?? "").split(delimiter)])].join(delimiter);
}

function defined(environment: NodeJS.ProcessEnv): Record<string, string> {
  const entries = Object.entries(environment);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
