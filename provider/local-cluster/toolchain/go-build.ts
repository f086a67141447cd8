import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { findExecutable } from "../find-executable";
import { runCommand } from "../run-command";
import type { Tool } from "./tool";

export interface GoBuildOptions {
  /** Folder of the module in the package. */
  moduleFolder: string;
  /** Folder to put the binaries in. */
  binFolder: string;
  scratchFolder: string;
  environment?: NodeJS.ProcessEnv;
  signal?: AbortSignal;
}

/**
 * Builds a tool from its pinned module with the user's Go toolchain and build cache.
 *
 * @throws if there is no `go` command or the build fails; the message names the tool
 */
export async function buildTool(tool: Tool, options: GoBuildOptions): Promise<void> {
  const environment: NodeJS.ProcessEnv = { ...(options.environment ?? process.env), CGO_ENABLED: "0" };
  const go = findExecutable("go", { ...environment, PATH: `${environment["PATH"] ?? ""}:/usr/local/go/bin` });
  if (go === undefined) {
    throw new Error(
      `${tool.name} ${tool.version} must be built and there is no go command on the PATH; install Go 1.24 or newer, or put ${tool.binaries.join(", ")} on the PATH`,
    );
  }
  const { build } = tool;
  const folder =
    build.prepare === undefined
      ? options.moduleFolder
      : await build.prepare({
          moduleFolder: options.moduleFolder,
          scratchFolder: options.scratchFolder,
          go,
          environment,
          ...(options.signal && { signal: options.signal }),
        });
  mkdirSync(options.binFolder, { recursive: true });
  const output = build.multiCall === true ? tool.name : (tool.binaries[0] ?? tool.name);
  const assignments = Object.entries(build.variables ?? {}).map(([name, value]) => `-X ${name}=${value}`);
  const args = ["build", "-trimpath", "-ldflags", ["-s", "-w", ...assignments].join(" ")];
  try {
    await runCommand(go, [...args, "-o", join(options.binFolder, output), build.package ?? "."], {
      cwd: folder,
      env: environment,
      ...(options.signal && { signal: options.signal }),
    });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`building ${tool.name} ${tool.version} failed: ${reason}`, { cause });
  }
  if (build.multiCall === true) {
    for (const binary of tool.binaries) symlinkSync(output, join(options.binFolder, binary));
  }
}
