import { readdirSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { Stack } from "@pulumi/pulumi/automation";
import { z } from "zod";

const lockSchema = z.object({ pid: z.number(), hostname: z.string() });

/** Process IDs of this machine that locked a stack; only stacks in files are locked so. */
export function lockHolders(backendUrl: string | undefined, project: string, stack: string): number[] {
  if (backendUrl?.startsWith("file:") !== true) return [];
  const folder = join(fileURLToPath(backendUrl), ".pulumi", "locks", "organization", project, stack);
  return files(folder).flatMap((file) => {
    const lock = lockIn(join(folder, file));
    return lock?.hostname === hostname() ? [lock.pid] : [];
  });
}

function lockIn(file: string): z.output<typeof lockSchema> | undefined {
  try {
    return lockSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return undefined; // gone, half written, or another tool's
  }
}

function files(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(".json"));
  } catch {
    return []; // never locked
  }
}

/**
 * Takes away the lock of a process that was killed and could not.
 *
 * @throws if the process still works on the stack
 */
export async function clearStaleLock(stack: Stack, holders: readonly number[]): Promise<void> {
  if (holders.length === 0) return;
  const working = holders.filter(isPulumi);
  if (working.length > 0) {
    throw new Error(
      `pulumi (process ${working.join(", ")}) is at work on the stack ${stack.name}; wait for it, or end it with npm stop`,
    );
  }
  await stack.cancel();
}

/** Ends the processes that work on a stack, at first by asking; gives up after 15 s. */
export async function endHolders(holders: readonly number[]): Promise<void> {
  const deadline = Date.now() + 15_000;
  for (const pid of holders.filter(isPulumi)) process.kill(pid, "SIGINT");
  while (holders.some(isPulumi) && Date.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 200));
  for (const pid of holders.filter(isPulumi)) process.kill(pid, "SIGKILL");
}

/** Whether the process runs and is the CLI: its ID may belong to another by now. */
function isPulumi(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim() === "pulumi";
  } catch {
    return false;
  }
}
