import type { RuntimeContext } from "../../kube";
import type { Kernel } from "../kernel/kernel";
import type { RefusedNamespaces } from "./refused-namespaces";

/** What the parts of an agent are given. */
export interface AgentContext {
  runtime: RuntimeContext;
  kernel: Kernel;
  /** Names the agent in the conditions of what it applies: the node, or the gateway. */
  host: string;
  /** Whether it is this process that says what became of configurations; a stand-by of a gateway applies them in silence. */
  reports: () => boolean;
  /** How often everything is compared with the kernel although nothing was said. */
  resyncMs: number;
  /** What was last written about each configuration, by its uid. */
  reported: Map<string, Reported>;
  /** Where the agent may report nothing. */
  refused: RefusedNamespaces;
}

/** What an agent has said of a configuration, and in which version of it. */
export interface Reported {
  applied: boolean;
  generation: number | undefined;
  version: string;
}
