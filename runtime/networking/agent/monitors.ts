import { monitorKernel } from "../kernel/monitor";
import type { AgentContext } from "./agent-context";

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
