import { spawn, type ChildProcess } from "node:child_process";

export interface ChildRun {
  cwd: string;
  env: NodeJS.ProcessEnv;
  stdout: (bytes: Buffer) => void;
  stderr: (bytes: Buffer) => void;
}

/** The programs that run, so that they end when the engine cancels or goes away. */
const running = new Set<ChildProcess>();

/** Runs Node with the arguments to its end and returns its exit code; 1 when it was ended by a signal. */
export function runNode(args: readonly string[], run: ChildRun): Promise<number> {
  const child = spawn(process.execPath, args, {
    cwd: run.cwd,
    env: run.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  child.stdout.on("data", run.stdout);
  child.stderr.on("data", run.stderr);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      running.delete(child);
      resolve(code ?? 1);
    });
  });
}

/** Ends every program that still runs. */
export function endAll(signal: NodeJS.Signals): void {
  for (const child of running) child.kill(signal);
}
