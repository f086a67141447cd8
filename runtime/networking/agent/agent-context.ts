import type { RuntimeContext } from "../../kube";
import type { Kernel } from "../kernel/kernel";

/** What the parts of an agent are given. */
export interface AgentContext {
  runtime: RuntimeContext;
  kernel: Kernel;
  /** Names the agent in the conditions of what it applies: the node, or the gateway. */
  host: string;
  /** How often everything is compared with the kernel although nothing was said. */
  resyncMs: number;
}
