import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

import { packageRoot } from "../../../runtime/api/package-root";
import { isExecutable } from "../find-executable";
import { cacheFolder } from "../folders";
import { withLock } from "../process-lock";
import type { Tool } from "./tool";

/** Binaries of a tool with their full paths. */
export type Found = [binary: string, path: string][];

/** The folder that a tool is made in, before it is renamed to its entry. */
export interface Draft {
  binFolder: string;
  /** Empty, and removed before the entry appears. */
  scratchFolder: string;
}

export interface EntryOptions {
  /** What is made, shown to processes that wait for it. */
  purpose: string;
  /** Lock file of those that may not make an entry at the same time. */
  lock: string;
  progress?: (line: string) => void;
  signal?: AbortSignal;
}

/** Folder of one version of a tool in the cache; another go.mod, go.sum or source gives another folder. */
export function toolFolder(tool: Tool): string {
  const hash = createHash("sha256").update(
    JSON.stringify([tool.version, tool.build.variables ?? {}, process.arch]),
  );
  const module = moduleFolder(tool);
  for (const file of readdirSync(module).sort())
    hash.update(`\0${file}\0`).update(readFileSync(join(module, file)));
  return entryFolder(`${tool.name}-${tool.version}-${hash.digest("hex").slice(0, 12)}`);
}

/** Folder of a tool's archives in the cache; archives with other sums give another folder. */
export function archiveFolder(name: string, version: string, sums: readonly string[]): string {
  const hash = createHash("sha256").update(sums.join("\n")).digest("hex").slice(0, 12);
  return entryFolder(`${name}-${version}-archive-${hash}`);
}

/** Lock of downloads and builds: one of them on a machine at a time. */
export function buildLock(): string {
  return entryFolder("lock");
}

/** Folder of the Go module that a tool is built from, in the package. */
export function moduleFolder(tool: Tool): string {
  const toolchain = join(packageRoot(), "provider", "local-cluster", "toolchain");
  const folder = resolve(toolchain, tool.build.module);
  if (!existsSync(join(folder, "go.mod")))
    throw new Error(`${folder} holds no go.mod; install the package pulumi-liqo again`);
  return folder;
}

/** The binaries of an entry; undefined unless all are there. */
export function findEntry(folder: string, tool: Tool): Found | undefined {
  const found = tool.binaries.map((binary): [string, string] => [binary, join(folder, "bin", binary)]);
  return found.every(([, path]) => isExecutable(path)) ? found : undefined;
}

/** Makes an entry of the cache, which appears whole or not at all, or finds the one that another process made meanwhile. */
export async function makeEntry(
  folder: string,
  tool: Tool,
  options: EntryOptions,
  make: (draft: Draft) => Promise<void>,
): Promise<Found> {
  const { lock, purpose, progress, signal } = options;
  const onWait = (holder: { pid: number; purpose: string }) =>
    progress?.(`${purpose}: waiting for process ${holder.pid}, which gets ${holder.purpose}`);
  return withLock(lock, { purpose, onWait, ...(signal && { signal }) }, async () => {
    const present = findEntry(folder, tool);
    if (present !== undefined) return present; // the process waited for made it
    const draft = `${folder}.draft`;
    const scratchFolder = join(draft, "scratch");
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(scratchFolder, { recursive: true });
    try {
      await make({ binFolder: join(draft, "bin"), scratchFolder });
      rmSync(scratchFolder, { recursive: true, force: true });
      rmSync(folder, { recursive: true, force: true });
      renameSync(draft, folder);
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
    const found = findEntry(folder, tool);
    if (found === undefined)
      throw new Error(`${purpose} was made but lacks one of ${tool.binaries.join(", ")}`);
    return found;
  });
}

function entryFolder(name: string): string {
  return join(cacheFolder(), "tools", name);
}
