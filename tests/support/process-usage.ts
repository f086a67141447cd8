/** CPU time and memory of processes, read from procfs. */
import { readFileSync, readdirSync } from "node:fs";

/** Kernel clock ticks a second; 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

export interface Usage {
  /** User and system time since the process started, in seconds, its ended and awaited children not included. */
  cpuSeconds: number;
  /** Proportional set size in MB: shared pages are divided among those who map them. */
  pssMb: number;
  /** Resident set size in MB. */
  rssMb: number;
}

/** What `pid` has used so far; undefined when it is gone. */
export function usageOf(pid: number): Usage | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const cpuSeconds = (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
    return { cpuSeconds, pssMb: kilobytes(rollup, "Pss") / 1024, rssMb: kilobytes(rollup, "Rss") / 1024 };
  } catch {
    return undefined;
  }
}

function kilobytes(rollup: string, key: string): number {
  return Number(new RegExp(`^${key}:\\s+(\\d+) kB`, "m").exec(rollup)?.[1] ?? 0);
}

/** CPU seconds that the whole machine has spent doing something since it booted. */
export function machineCpuSeconds(): number {
  const [user, nice, system, , , irq, softirq] = (
    /^cpu +(.*)$/m.exec(readFileSync("/proc/stat", "utf8"))?.[1] ?? ""
  )
    .split(" ")
    .map(Number);
  return ((user ?? 0) + (nice ?? 0) + (system ?? 0) + (irq ?? 0) + (softirq ?? 0)) / TICKS_PER_SECOND;
}

/** Every process whose parent chain leads to `root`, `root` included. */
export function processTree(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, "utf8");
      const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
    } catch {
      continue;
    }
  }
  const found = [root];
  for (let i = 0; i < found.length; i++) found.push(...(children.get(found[i] ?? 0) ?? []));
  return found;
}
