/** Processes of a test run: each has a deadline, and a run that is interrupted stops all of them in order. */
import { type ChildProcess, spawn } from "node:child_process";

import type { Ended } from "./outcome";
import { processorTime } from "./processor-time";

const MINUTE = 60_000;
/** How long a process that was asked to stop may take to remove its clusters. */
const GRACE = MINUTE;

export interface ProcessOptions {
  name: string;
  script: string;
  args: readonly string[];
  cwd: string;
  /** Milliseconds. */
  deadline: number;
  environment?: NodeJS.ProcessEnv;
  /** Whether its lines are shown as they come; those of processes that run side by side are shown when each ends. */
  live: boolean;
}

/** A young generation of 32 MB: programs of the Pulumi SDK collect garbage a fourth as often. */
const NODE_FLAGS = ["--max-semi-space-size=32"];

const running = new Set<ChildProcess>();
let interrupted = false;

/** Runs a script under this Node; at the deadline asks it to stop, then makes it. */
export async function runProcess(options: ProcessOptions): Promise<Ended> {
  const { name, script, args, cwd, deadline, environment, live } = options;
  const time = await processorTime();
  const start = performance.now();
  const [program = "", ...words] = [...time.enter, process.execPath, ...NODE_FLAGS, script, ...args];
  const lines: Buffer[] = [];
  console.log(live ? `\n${name}` : `${name}: started`);
  const code = await new Promise<number>((resolve) => {
    const child = spawn(program, words, {
      cwd,
      stdio: ["ignore", ...(live ? (["inherit", "inherit"] as const) : (["pipe", "pipe"] as const))],
      env: { ...process.env, ...environment },
    });
    running.add(child);
    child.stdout?.on("data", (chunk: Buffer) => lines.push(chunk));
    child.stderr?.on("data", (chunk: Buffer) => lines.push(chunk));
    const timer = setTimeout(() => {
      lines.push(Buffer.from(`${name}: no end after ${deadline / MINUTE} min\n`));
      stop(child);
    }, deadline);
    child.on("error", (error) => lines.push(Buffer.from(`${error.message}\n`)));
    // A process that was started and outlives the test may keep its output open.
    child.on("exit", () => setTimeout(() => child.stdout?.destroy(), 5_000).unref());
    child.on("exit", () => setTimeout(() => child.stderr?.destroy(), 5_000).unref());
    child.on("close", (status) => {
      clearTimeout(timer);
      running.delete(child);
      resolve(status ?? 1);
    });
  });
  const wallSeconds = (performance.now() - start) / 1000;
  const ended = { code, interrupted, wallSeconds, cpuSeconds: time.seconds() };
  time.close();
  const output = Buffer.concat(lines).toString();
  if (output !== "") process.stdout.write(live ? output : `\n${name}\n${output}`);
  console.log(`${name}: ${Math.round(ended.wallSeconds)} s`);
  return ended;
}

function stop(child: ChildProcess): void {
  child.kill("SIGTERM");
  setTimeout(() => child.kill("SIGKILL"), GRACE).unref();
}

/** Whether the run was told to stop: nothing more is to be started. */
export function wasInterrupted(): boolean {
  return interrupted;
}

/** At the first signal asks all processes to stop; those that are to come do not start. */
export function stopOnSignals(): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (interrupted) return;
      interrupted = true;
      running.forEach(stop);
      process.exitCode = 1;
    });
  }
}
