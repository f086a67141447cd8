import { spawn } from "node:child_process";

import { type RuntimeContext, sleep } from "../../kube";

const RESTART_MS = 2_000;

/** Calls back when the kernel reports a change of interfaces, addresses, routes or rules. Several changes may share one call. */
export function monitorLinksAndRoutes(runtime: RuntimeContext, onChange: () => void): void {
  void monitor(runtime, "ip", ["-4", "-o", "monitor", "link", "address", "route", "rule"], onChange);
}

/** Calls back when the kernel reports that tables, chains or rules were removed. */
export function monitorTables(runtime: RuntimeContext, onChange: () => void): void {
  void monitor(runtime, "nft", ["monitor", "destroy"], onChange);
}

/** Runs a program that reports changes until the signal is aborted. One more call after each restart covers what changed in between. */
async function monitor(
  { clock, log, signal }: RuntimeContext,
  program: string,
  args: readonly string[],
  onChange: () => void,
): Promise<void> {
  while (!signal.aborted) {
    await new Promise<void>((resolve) => {
      const child = spawn(program, args, { stdio: ["ignore", "pipe", "ignore"] });
      const end = () => child.kill("SIGKILL");
      signal.addEventListener("abort", end, { once: true });
      child.stdout.on("data", onChange);
      child.once("error", (error) => {
        log.warn("cannot listen to the kernel", { program, error });
        resolve();
      });
      child.once("close", () => {
        signal.removeEventListener("abort", end);
        resolve();
      });
    });
    if (signal.aborted) return;
    log.warn("listening to the kernel ended; beginning anew", { program });
    await sleep(clock, RESTART_MS, signal);
    onChange();
  }
}
