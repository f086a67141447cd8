import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { identifyProcess, type ProcessIdentity } from "../process-identity";
import { runCommand, type CommandOptions } from "../run-command";

/** How long a process may take to enter its namespaces. */
const startTimeoutMs = 10_000;

export interface NamespaceProcessSpec {
  /** Folder of the control group that it joins first. */
  cgroupFolder: string;
  /** Options of `unshare`: the namespaces that it makes. */
  namespaces: string[];
  /** Shell script that it runs as. Its first line must be `announceScript`. */
  script: string;
  /** Written by `announceScript`. */
  pidFile: string;
  logFile: string;
}

/** Lines that tell the host's number of the process, while /proc still is the host's. */
export function announceScript(pidFile: string): string {
  return `read -r pid rest </proc/self/stat
echo "$pid" >${quote(pidFile)}.draft && mv ${quote(pidFile)}.draft ${quote(pidFile)}`;
}

/** Starts a process that outlives this one, in namespaces of its own; returns once it is in them. */
export async function startInNamespaces(spec: NamespaceProcessSpec): Promise<ProcessIdentity> {
  await rm(spec.pidFile, { force: true });
  const starter = startDetached({
    cgroupFolder: spec.cgroupFolder,
    command: ["unshare", ...spec.namespaces, "/bin/sh", spec.script],
    logFile: spec.logFile,
  });
  for (const deadline = Date.now() + startTimeoutMs; Date.now() < deadline; await sleep(10)) {
    const pid = Number(await readFile(spec.pidFile, "utf8").catch(() => ""));
    const identity = pid > 0 ? identifyProcess(pid) : undefined;
    if (identity !== undefined) return identity;
    if (identifyProcess(starter) === undefined) break;
  }
  const log = await readFile(spec.logFile, "utf8").catch(() => "");
  throw new Error(
    `the process of ${spec.script} did not start: ${log.trim().split("\n").slice(-5).join("\n")}`,
  );
}

/** Starts a command that outlives this process, in a control group; returns its process number. */
export function startDetached(spec: { cgroupFolder: string; command: string[]; logFile: string }): number {
  mkdirSync(dirname(spec.logFile), { recursive: true });
  const log = openSync(spec.logFile, "a");
  try {
    const child = spawn(
      "/bin/sh",
      ["-c", 'echo $$ >"$0" && exec "$@"', join(spec.cgroupFolder, "cgroup.procs"), ...spec.command],
      { detached: true, stdio: ["ignore", log, log], cwd: "/" },
    );
    child.on("error", () => undefined); // seen by the process number
    child.unref();
    if (child.pid === undefined) throw new Error(`cannot start ${spec.command.join(" ")}`);
    return child.pid;
  } finally {
    closeSync(log);
  }
}

/** Runs a command in the namespaces of a process. @param namespaces options of `nsenter`: `--net`, `--mount`, … */
export async function runInNamespaces(
  process: ProcessIdentity,
  namespaces: string[],
  command: string[],
  options: CommandOptions = {},
): Promise<string> {
  return runCommand("nsenter", ["--target", String(process.pid), ...namespaces, "--", ...command], options);
}

/** A word of a shell script. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
