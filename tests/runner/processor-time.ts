/** Processor time of a process and of all that it starts, which the kernel counts by control groups. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";

import { hierarchies } from "../../provider/local-cluster/native/control-groups";

export interface ProcessorTime {
  /** What has to stand before a command, so that it is counted. */
  readonly enter: readonly string[];
  /** Seconds so far; undefined where the machine does not tell. */
  seconds(): number | undefined;
  close(): void;
}

const UNKNOWN: ProcessorTime = { enter: [], seconds: () => undefined, close: () => undefined };
const PREFIX = "pulumi-liqo-test-";
let groups = 0;

/** Counts for a process that is to be started. Pods of local clusters have groups of their own and are not counted. */
export async function processorTime(): Promise<ProcessorTime> {
  if (process.platform !== "linux") return UNKNOWN;
  const all = await hierarchies();
  const accounting =
    all.find(({ controllers }) => controllers.includes("cpuacct")) ??
    all.find(({ version }) => version === 2);
  if (accounting === undefined) return UNKNOWN;
  if (groups === 0) removeLeft(accounting.mountPoint);
  const folder = join(accounting.mountPoint, `${PREFIX}${process.pid}-${(groups += 1)}`);
  try {
    mkdirSync(folder);
  } catch {
    return UNKNOWN; // not root, or not ours to divide
  }
  return {
    enter: ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', folder],
    seconds: () =>
      accounting.version === 2
        ? Number(/^usage_usec (\d+)$/m.exec(readFileSync(join(folder, "cpu.stat"), "utf8"))?.[1] ?? 0) / 1e6
        : Number(readFileSync(join(folder, "cpuacct.usage"), "utf8")) / 1e9,
    close: () => removeGroup(folder),
  };
}

/** Groups of runs that are over. */
function removeLeft(mountPoint: string): void {
  for (const name of readdirSync(mountPoint)) {
    const [pid] = name.startsWith(PREFIX) ? name.slice(PREFIX.length).split("-") : [];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) removeGroup(join(mountPoint, name));
  }
}

function removeGroup(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // A process that outlives its test is still in it: the next run looks again.
  }
}
