import { randomUUID } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { z } from "zod";

import { identifyProcess, isRunning } from "./process-identity";

const lockContent = z.object({
  pid: z.number(),
  startTime: z.string(),
  boot: z.string(),
  purpose: z.string(),
  token: z.string(),
});
type LockContent = z.infer<typeof lockContent>;

export interface LockOptions {
  /** What the holder does, shown to those who wait. */
  purpose: string;
  /** Called once for each holder that this process waits for. */
  onWait?: (holder: { pid: number; purpose: string }) => void;
  signal?: AbortSignal;
}

/**
 * Runs `work` while no other process on this machine holds the lock file. The file names its holder by number and start time,
 * so a lock whose holder died is taken over.
 */
export async function withLock<T>(file: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  const self = identifyProcess(process.pid);
  if (self === undefined) throw new Error("this process does not find itself in /proc; mount it");
  const content: LockContent = { ...self, purpose: options.purpose, token: randomUUID() };
  let announced: string | undefined;
  while (!take(file, content)) {
    const holder = read(file);
    if (holder !== undefined && isRunning(holder)) {
      if (announced !== holder.token) options.onWait?.(holder);
      announced = holder.token;
      await sleep(200, undefined, { signal: options.signal });
    } else {
      removeStale(file, holder?.token);
    }
  }
  try {
    return await work();
  } finally {
    if (read(file)?.token === content.token) rmSync(file, { force: true });
  }
}

/** A link appears with its content or not at all. False when it is there already, or another process removed the folder just now. */
function take(file: string, content: LockContent): boolean {
  const draft = `${file}.${content.token}`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(draft, JSON.stringify(content), { mode: 0o644 });
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "EEXIST" || error.code === "ENOENT"))
      return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function read(file: string): LockContent | undefined {
  try {
    return lockContent.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return undefined; // gone, or not written by us
  }
}

/** Moves the lock away and looks again: another process may have taken it over since it was read. */
function removeStale(file: string, staleToken: string | undefined): void {
  const aside = `${file}.${randomUUID()}`;
  try {
    renameSync(file, aside);
  } catch {
    return; // another process removed it
  }
  if (read(aside)?.token !== staleToken) {
    try {
      linkSync(aside, file);
    } catch {
      // taken again already
    }
  }
  rmSync(aside, { force: true });
}
