import { spawn } from "node:child_process";

import { type Clock, type Logger, sleep } from "../../kube";
import type { AgentContext } from "../agent/agent";

export interface MonitorOptions {
  program: string;
  args: string[];
  /** Called after each change that the program reports, several at once where they come together. */
  onChange: () => void;
  clock: Clock;
  log: Logger;
  signal: AbortSignal;
}

const RESTART_MS = 2_000;

/**
 * Listens to what the kernel reports until the signal is aborted: `ip monitor` or `nft monitor`. What changes while the program starts anew
 * is made up for by one more look.
 */
export async function monitorKernel(options: MonitorOptions): Promise<void> {
  const { program, args, onChange, clock, log, signal } = options;
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

/** Runs passes when the kernel reports changes of interfaces, addresses, routes and rules. */
export function monitorLinksAndRoutes({ runtime }: AgentContext, onChange: () => void): void {
  const { clock, log, signal } = runtime;
  const args = ["-4", "-o", "monitor", "link", "address", "route", "rule"];
  void monitorKernel({ program: "ip", args, onChange, clock, log, signal });
}

/** The same when the kernel reports that tables, chains or rules were removed. */
export function monitorTables({ runtime }: AgentContext, onChange: () => void): void {
  const { clock, log, signal } = runtime;
  void monitorKernel({ program: "nft", args: ["monitor", "destroy"], onChange, clock, log, signal });
}
