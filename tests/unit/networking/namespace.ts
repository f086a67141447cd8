/** Commands in a network namespace that lives as long as they run: what they do to the kernel touches nobody. */
import { execFileSync, spawnSync } from "node:child_process";

/** Whether this machine and user can make namespaces and has the programs. Tests that need them are declared only then. */
export function canUse(...programs: string[]): boolean {
  return programs.every(
    (program) => spawnSync("unshare", ["-n", program, "-V"], { stdio: "ignore" }).status === 0,
  );
}

/** Runs a shell script in a new namespace; returns what it wrote to its output. Fails when a command of it fails. */
export function inNamespace(script: string, input = ""): string {
  // The input comes through a pipe of the shell's: Node's are sockets, which nft cannot open again as /dev/stdin.
  const piped = `cat | {\n${script}\n}`;
  return execFileSync("unshare", ["-n", "sh", "-euc", piped], { encoding: "utf8", input, stdio: "pipe" });
}
