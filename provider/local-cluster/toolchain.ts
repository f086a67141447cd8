import { rmSync } from "node:fs";
import { dirname } from "node:path";

import { findExecutable } from "./find-executable";
import { runCommand } from "./run-command";
import {
  buildLock,
  findEntry,
  makeEntry,
  moduleFolder,
  toolFolder,
  type Draft,
  type Found,
} from "./toolchain/cache-entry";
import { buildTool } from "./toolchain/go-build";
import { fetchDownload } from "./toolchain/official-download";
import type { Platform, Tool } from "./toolchain/tool";
import { toolCatalogue, type ToolName } from "./toolchain/tool-catalogue";
import { ToolPlan } from "./toolchain/tool-plan";
import { supplyTool, toolSource, type SupplyAnswer } from "./toolchain/tool-source";
import { Unreachable } from "./toolchain/transfer";

export type { ToolName } from "./toolchain/tool-catalogue";

export interface EnsureToolsOptions {
  /** Receives one line for each step and, while a step lasts, every 20 s. */
  progress?: (line: string) => void;
  environment?: NodeJS.ProcessEnv;
  signal?: AbortSignal;
  /** Where several calls make tools one after the other: what all of them will make. By default what this call makes. */
  plan?: ToolPlan;
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
 * Finds tools on the PATH (in a version that fits), else in the folder or mirror that `PULUMI_LIQO_TOOLS` names, else in the cache folder;
 * else fetches the publisher's build where it can be reached, else builds them from the pinned Go modules of this package. Each happens
 * once a version; one process on this machine downloads or builds at a time and the others wait for it.
 *
 * @throws if a tool can be had in none of these ways; ToolSourceFault if `PULUMI_LIQO_TOOLS` or what it names is wrong
 */
export async function ensureTools(
  names: readonly ToolName[],
  options: EnsureToolsOptions = {},
): Promise<ToolPaths> {
  return obtainTools(catalogued(names), options);
}

/** The tools among those named that are nowhere yet, in their order. Takes what the folder or mirror of tools has. */
export async function missingTools(
  names: readonly ToolName[],
  options: EnsureToolsOptions = {},
): Promise<Tool[]> {
  const searched = await search(catalogued(names), options);
  return searched.flatMap(({ tool, found }) => (found === undefined ? [tool] : []));
}

/** A tool as the folder or mirror that `PULUMI_LIQO_TOOLS` names has it; undefined if none is named, or it has it not. */
export async function suppliedTool(
  name: ToolName,
  options: EnsureToolsOptions = {},
): Promise<ToolPaths | undefined> {
  const answer = await supplied(toolCatalogue[name], toolSource(options.environment), options);
  return answer?.kind === "supplied" ? new ToolPaths(new Map(answer.found)) : undefined;
}

/** The same as `ensureTools`, for tools that need not be in the catalogue. */
export async function obtainTools(
  tools: readonly Tool[],
  options: EnsureToolsOptions = {},
): Promise<ToolPaths> {
  const searched = await search(tools, options);
  const missing = searched.filter(({ found }) => found === undefined);
  const plan = options.plan ?? new ToolPlan(missing.map(({ tool }) => tool));
  const paths = new Map<string, string>();
  for (const { tool, found, remark } of searched) {
    if (found === undefined && remark !== undefined) options.progress?.(`${plan.label(tool)}: ${remark}`);
    for (const [binary, path] of found ?? (await obtain(tool, plan, options))) paths.set(binary, path);
    plan.done(tool);
  }
  return new ToolPaths(paths);
}

interface Searched {
  tool: Tool;
  found?: Found | undefined;
  /** Why the folder or mirror of tools was of no use. */
  remark?: string;
}

function catalogued(names: readonly ToolName[]): Tool[] {
  return [...new Set(names)].map((name) => toolCatalogue[name]);
}

async function search(tools: readonly Tool[], options: EnsureToolsOptions): Promise<Searched[]> {
  const source = toolSource(options.environment);
  const searched: Searched[] = [];
  for (const tool of tools) {
    const present = await onPath(tool, options.environment);
    if (present !== undefined) {
      searched.push({ tool, found: present });
      continue;
    }
    const answer = await supplied(tool, source, options);
    if (answer?.kind === "supplied") searched.push({ tool, found: answer.found });
    else
      searched.push({
        tool,
        found: findEntry(toolFolder(tool), tool),
        ...(answer?.silent === false && { remark: answer.reason }),
      });
  }
  return searched;
}

/** Mirrors of which was said that they do not answer: once is enough. */
const announced = new Set<string>();

async function supplied(
  tool: Tool,
  source: URL | undefined,
  options: EnsureToolsOptions,
): Promise<SupplyAnswer | undefined> {
  if (source === undefined) return undefined;
  const { progress, signal } = options;
  const answer = await supplyTool(tool, source, presentPlatform(), {
    ...(progress && { progress }),
    ...(signal && { signal }),
  });
  if (answer.kind === "none" && answer.silent && progress !== undefined && !announced.has(source.href)) {
    announced.add(source.href);
    progress(
      `${answer.reason} (${source.href}); tools come from the cache, a download or a build instead; correct PULUMI_LIQO_TOOLS or unset it`,
    );
  }
  return answer;
}

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

async function obtain(tool: Tool, plan: ToolPlan, options: EnsureToolsOptions): Promise<Found> {
  const { progress, signal } = options;
  const lock = { purpose: plan.label(tool), lock: buildLock() };
  return makeEntry(
    toolFolder(tool),
    tool,
    { ...lock, ...(progress && { progress }), ...(signal && { signal }) },
    async (draft) => {
      if (await download(tool, draft, plan, options)) return;
      plan.buildBegins(tool);
      await build(tool, draft, plan, options);
      plan.buildEnds(tool);
    },
  );
}

async function download(
  tool: Tool,
  draft: Draft,
  plan: ToolPlan,
  options: EnsureToolsOptions,
): Promise<boolean> {
  const label = plan.label(tool);
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
            ...draft,
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
    rmSync(draft.binFolder, { recursive: true, force: true });
    return false;
  }
}

async function build(tool: Tool, draft: Draft, plan: ToolPlan, options: EnsureToolsOptions): Promise<void> {
  await timed(
    `${plan.label(tool)}: building from its Go module`,
    options,
    () => plan.estimate(),
    () =>
      buildTool(tool, {
        ...draft,
        moduleFolder: moduleFolder(tool),
        ...(options.environment && { environment: options.environment }),
        ...(options.signal && { signal: options.signal }),
      }),
  );
}

/** Says that a step begins, every 20 s how far it is, and that it ended. */
async function timed(
  what: string,
  options: EnsureToolsOptions,
  detail: () => string,
  work: () => Promise<void>,
): Promise<void> {
  const start = performance.now();
  const elapsed = () => `${Math.round((performance.now() - start) / 1000)} s`;
  options.progress?.(`${what}: ${detail()}`);
  const timer = setInterval(() => options.progress?.(`${what}: ${elapsed()} so far, ${detail()}`), 20_000);
  try {
    await work();
    options.progress?.(`${what}: done in ${elapsed()}`);
  } finally {
    clearInterval(timer);
  }
}

function presentPlatform(): Platform {
  return { os: process.platform, architecture: process.arch === "x64" ? "amd64" : process.arch };
}
