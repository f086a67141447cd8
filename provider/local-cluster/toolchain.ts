import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

import { packageRoot } from "../../runtime/api/package-root";
import { findExecutable, isExecutable } from "./find-executable";
import { cacheFolder } from "./folders";
import { withLock } from "./process-lock";
import { runCommand } from "./run-command";
import { buildTool } from "./toolchain/go-build";
import { fetchDownload, Unreachable } from "./toolchain/official-download";
import type { Platform, Tool } from "./toolchain/tool";
import { toolCatalogue, type ToolName } from "./toolchain/tool-catalogue";

export type { ToolName } from "./toolchain/tool-catalogue";

export interface EnsureToolsOptions {
  /** Receives one line for each step and, while a step lasts, every 20 s. */
  progress?: (line: string) => void;
  environment?: NodeJS.ProcessEnv;
  signal?: AbortSignal;
}

/** Full paths of the binaries by their names (`kube-apiserver`, `etcd`, `pulumi`, …). */
export class ToolPaths {
  constructor(private readonly paths: ReadonlyMap<string, string>) {}

  /** @throws if the binary is not one of the tools that were asked for */
  of(binary: string): string {
    const path = this.paths.get(binary);
    if (path === undefined) {
      throw new Error(`${binary} is not among the tools asked for: ${[...this.paths.keys()].join(", ")}`);
    }
    return path;
  }

  /** The folders of all binaries, to put in front of a PATH. */
  folders(): string[] {
    return [...new Set([...this.paths.values()].map((path) => dirname(path)))];
  }
}

/**
 * Finds tools on the PATH (in a version that fits), else in the cache folder, else fetches the publisher's build where it can be
 * reached, else builds them from the pinned Go modules of this package. Each happens once a version; one process on this machine
 * fetches or builds at a time and the others wait for it.
 *
 * @throws if a tool can be had in none of these ways
 */
export async function ensureTools(
  names: readonly ToolName[],
  options: EnsureToolsOptions = {},
): Promise<ToolPaths> {
  const paths = new Map<string, string>();
  const missing: Tool[] = [];
  for (const name of new Set(names)) {
    const tool: Tool = toolCatalogue[name];
    const found = (await onPath(tool, options.environment)) ?? inCache(tool);
    if (found === undefined) missing.push(tool);
    else for (const [binary, path] of found) paths.set(binary, path);
  }
  for (const [index, tool] of missing.entries()) {
    const label = `${tool.name} ${tool.version} (${index + 1} of ${missing.length})`;
    for (const [binary, path] of await obtain(tool, label, options)) paths.set(binary, path);
  }
  return new ToolPaths(paths);
}

/** Folder of one version of a tool in the cache; another go.mod, go.sum or source gives another folder. */
export function toolFolder(tool: Tool): string {
  const hash = createHash("sha256").update(
    JSON.stringify([tool.version, tool.build.variables ?? {}, process.arch]),
  );
  const module = moduleFolder(tool);
  for (const file of readdirSync(module).sort())
    hash.update(`\0${file}\0`).update(readFileSync(join(module, file)));
  return join(cacheFolder(), "tools", `${tool.name}-${tool.version}-${hash.digest("hex").slice(0, 12)}`);
}

type Found = [binary: string, path: string][];

async function onPath(tool: Tool, environment: NodeJS.ProcessEnv | undefined): Promise<Found | undefined> {
  const { probe } = tool;
  if (probe === undefined) return undefined;
  const found: Found = [];
  for (const binary of tool.binaries) {
    const path = findExecutable(binary, environment);
    if (path === undefined) return undefined;
    found.push([binary, path]);
  }
  const [first] = found;
  if (first === undefined) return undefined;
  const output = await runCommand(first[1], probe.args, { timeoutMs: 10_000 }).catch(() => "");
  return probe.accepts(output) ? found : undefined;
}

function inCache(tool: Tool): Found | undefined {
  const bin = join(toolFolder(tool), "bin");
  const found = tool.binaries.map((binary): [string, string] => [binary, join(bin, binary)]);
  return found.every(([, path]) => isExecutable(path)) ? found : undefined;
}

async function obtain(tool: Tool, label: string, options: EnsureToolsOptions): Promise<Found> {
  const progress = options.progress ?? (() => undefined);
  return withLock(
    join(cacheFolder(), "tools", "lock"),
    {
      purpose: label,
      onWait: (holder) =>
        progress(`${label}: waiting for process ${holder.pid}, which gets ${holder.purpose}`),
      ...(options.signal && { signal: options.signal }),
    },
    async () => {
      const present = inCache(tool);
      if (present !== undefined) return present; // the process waited for made it
      const folder = toolFolder(tool);
      const draft = `${folder}.draft`;
      rmSync(draft, { recursive: true, force: true });
      mkdirSync(join(draft, "scratch"), { recursive: true });
      try {
        if (!(await download(tool, draft, label, options))) await build(tool, draft, label, options);
        rmSync(join(draft, "scratch"), { recursive: true, force: true });
        rmSync(folder, { recursive: true, force: true });
        renameSync(draft, folder);
      } finally {
        rmSync(draft, { recursive: true, force: true });
      }
      const found = inCache(tool);
      if (found === undefined)
        throw new Error(`${tool.name} ${tool.version} was made but lacks one of ${tool.binaries.join(", ")}`);
      return found;
    },
  );
}

async function download(
  tool: Tool,
  draft: string,
  label: string,
  options: EnsureToolsOptions,
): Promise<boolean> {
  const files = tool.download?.(presentPlatform());
  if (files === undefined) return false;
  let share = 0;
  try {
    await timed(
      `${label}: downloading`,
      options,
      () => `${Math.round(share * 100)} %`,
      async () => {
        for (const [index, file] of files.entries()) {
          await fetchDownload(file, {
            binFolder: join(draft, "bin"),
            scratchFolder: join(draft, "scratch"),
            onProgress: (part) => (share = (index + part) / files.length),
            ...(options.signal && { signal: options.signal }),
          });
        }
      },
    );
    return true;
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    options.progress?.(`${label}: ${error.message}`);
    rmSync(join(draft, "bin"), { recursive: true, force: true });
    return false;
  }
}

async function build(tool: Tool, draft: string, label: string, options: EnsureToolsOptions): Promise<void> {
  const expected = `about ${tool.build.minutes} min from nothing on two cores`;
  await timed(
    `${label}: building from its Go module`,
    options,
    () => expected,
    () =>
      buildTool(tool, {
        moduleFolder: moduleFolder(tool),
        binFolder: join(draft, "bin"),
        scratchFolder: join(draft, "scratch"),
        ...(options.environment && { environment: options.environment }),
        ...(options.signal && { signal: options.signal }),
      }),
  );
}

/** Says that a step begins, every 20 s that it goes on, and that it ended. */
async function timed(
  what: string,
  options: EnsureToolsOptions,
  detail: () => string,
  work: () => Promise<void>,
): Promise<void> {
  const start = performance.now();
  const elapsed = () => `${Math.round((performance.now() - start) / 1000)} s`;
  options.progress?.(what);
  const timer = setInterval(() => options.progress?.(`${what}: ${elapsed()} so far, ${detail()}`), 20_000);
  try {
    await work();
    options.progress?.(`${what}: done in ${elapsed()}`);
  } finally {
    clearInterval(timer);
  }
}

function moduleFolder(tool: Tool): string {
  const folder = join(packageRoot(), "provider", "local-cluster", "toolchain", tool.build.module);
  if (!existsSync(join(folder, "go.mod")))
    throw new Error(`${folder} holds no go.mod; install the package pulumi-liqo again`);
  return folder;
}

function presentPlatform(): Platform {
  return { os: process.platform, architecture: process.arch === "x64" ? "amd64" : process.arch };
}
