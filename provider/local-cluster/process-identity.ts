import { readFileSync } from "node:fs";

/** A process named so that a later process with the same number is not taken for it. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time in clock ticks since boot, from /proc/<pid>/stat; empty where there is no /proc. */
  readonly startTime: string;
  /** Identity of this boot of the machine, from /proc; empty where there is no /proc. */
  readonly boot: string;
}

/** Identity of a running process; undefined if there is none (a zombie counts as none). */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const boot = readOrEmpty("/proc/sys/kernel/random/boot_id").trim();
  if (boot === "") return signalReaches(pid) ? { pid, startTime: "", boot } : undefined;
  // The command's name, in parentheses, may itself hold spaces and parentheses.
  const fields = readOrEmpty(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ") ?? [];
  const [state] = fields;
  const startTime = fields[19];
  return startTime === undefined || state === "Z" || state === "X" ? undefined : { pid, startTime, boot };
}

/** Whether exactly this process still runs. */
export function isRunning(identity: ProcessIdentity): boolean {
  const present = identifyProcess(identity.pid);
  return present !== undefined && present.startTime === identity.startTime && present.boot === identity.boot;
}

/** Kills exactly this process; false if it was gone already. */
export function killProcess(identity: ProcessIdentity, signal: NodeJS.Signals = "SIGKILL"): boolean {
  if (!isRunning(identity)) return false;
  try {
    return process.kill(identity.pid, signal);
  } catch {
    return false; // it ended in between
  }
}

function signalReaches(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
