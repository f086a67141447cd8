/** Network namespaces of the tests' own: what is done there to the kernel touches nobody. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { readlinkSync } from "node:fs";

/** Whether this machine and user can make namespaces and has the programs. Tests that need them are declared only then. */
export function canUse(...programs: string[]): boolean {
  return programs.every(
    (program) => spawnSync("unshare", ["-n", program, "-V"], { stdio: "ignore" }).status === 0,
  );
}

// The input comes through a pipe of the shell's: Node's are sockets, which nft cannot open again as /dev/stdin.
const piped = (script: string) => ["sh", "-euc", `cat | {\n${script}\n}`];

/** Runs a shell script in a namespace of its own; returns what it wrote to its output. Fails when a command of it fails. */
export function inNamespace(script: string, input = ""): string {
  return execFileSync("unshare", ["-n", ...piped(script)], { encoding: "utf8", input, stdio: "pipe" });
}

/** A namespace for several commands. */
export class Namespace {
  private constructor(private readonly holder: ChildProcess) {}

  static async open(): Promise<Namespace> {
    const holder = spawn("unshare", ["-n", "sleep", "300"], { stdio: "ignore" });
    const network = () => readlinkSync(`/proc/${holder.pid}/ns/net`);
    const ours = readlinkSync("/proc/self/ns/net");
    for (let tries = 0; network() === ours; tries += 1) {
      if (tries > 500) throw new Error("no network namespace within 5 s");
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return new Namespace(holder);
  }

  /** As {@link inNamespace}; a command that may fail writes to the output what it says. */
  run(script: string, input = ""): string {
    const enter = ["-t", String(this.holder.pid), "-n"];
    const options = { encoding: "utf8", input, stdio: "pipe", maxBuffer: 64 * 1024 ** 2 } as const;
    return execFileSync("nsenter", [...enter, ...piped(script)], options);
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.holder.once("exit", resolve));
    this.holder.kill("SIGKILL");
    await ended;
  }
}
