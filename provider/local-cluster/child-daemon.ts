import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { findExecutable } from "./find-executable";

export interface DaemonSpec {
  /** Shown in errors. */
  name: string;
  command: string;
  args: string[];
  cwd?: string;
  logFile: string;
}

/** A long-running child process that ends when its parent does, however that dies. */
export class ChildDaemon {
  private readonly ended: Promise<string>;
  private outcome: string | undefined;

  private constructor(
    private readonly spec: DaemonSpec,
    private readonly child: ChildProcess,
  ) {
    this.ended = new Promise((resolve) => {
      child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
      child.once("error", (error) => resolve(error.message));
    });
    void this.ended.then((outcome) => (this.outcome = outcome));
  }

  static start(spec: DaemonSpec): ChildDaemon {
    const log = openSync(spec.logFile, "a");
    try {
      // The kernel sends the signal when the parent is gone, even after a kill -9.
      const setpriv = findExecutable("setpriv");
      const [command, args] =
        setpriv === undefined
          ? [spec.command, spec.args]
          : [setpriv, ["--pdeathsig", "KILL", "--", spec.command, ...spec.args]];
      const child = spawn(command, args, { cwd: spec.cwd, stdio: ["ignore", log, log] });
      child.unref(); // a forgotten stop() must not keep the process alive
      return new ChildDaemon(spec, child);
    } finally {
      closeSync(log);
    }
  }

  get pid(): number | undefined {
    return this.outcome === undefined ? this.child.pid : undefined;
  }

  /** @throws with the end of its log if it has ended */
  assertRunning(): void {
    if (this.outcome === undefined) return;
    const log = readFileSync(this.spec.logFile, "utf8").trim().split("\n").slice(-8).join("\n");
    throw new Error(`${this.spec.name} ended (${this.outcome}); the end of ${this.spec.logFile}:\n${log}`);
  }

  /** Asks it to end and kills it after `graceMs`; returns when it is gone. */
  async stop(graceMs = 3_000): Promise<void> {
    if (this.outcome !== undefined) return;
    this.child.ref();
    if (graceMs > 0) {
      this.child.kill("SIGTERM");
      const timer = new AbortController();
      await Promise.race([
        this.ended,
        sleep(graceMs, undefined, { signal: timer.signal }).catch(() => undefined),
      ]);
      timer.abort();
    }
    this.child.kill("SIGKILL");
    await this.ended;
  }
}
