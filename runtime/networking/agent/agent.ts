import * as flag from "../../component/flags";
import type { Kind, KubeObject } from "../../api";
import { isDeleting, keyOf, type ReconcileRun, type RuntimeContext, withoutFinalizer } from "../../kube";
import type { Kernel } from "../kernel/kernel";
import type { RefusedNamespaces } from "./applied-condition";

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
interface Reported {
  applied: boolean;
  generation: number | undefined;
  version: string;
}

/** Flags of both agents, by upstream's names (networking reference 19.2). */
export const agentFlags = {
  /** UDP port of the overlay between nodes and gateways; the same in all agents of a cluster. */
  genevePort: flag.integer(6091, 1, 65_535),
  /** Without ARP on the overlay; the same in all agents of a cluster. */
  disableArp: flag.boolean(false),
  /** Puts tables right as soon as somebody else changes them, not only at the next look. */
  enableNftMonitor: flag.boolean(true),
  /** The same for routes, rules and interfaces. */
  enableRouteMonitor: flag.boolean(true),
  /** How often everything is compared with the kernel although nothing was said. */
  resyncInterval: flag.duration(60_000),
  disableKernelVersionCheck: flag.boolean(false),
  minimumKernelVersion: flag.text("5.10.0"),

  // One look at the kernel serves all objects, and what is no longer wanted goes at once.
  reconcileTimeout: flag.ignored(),
  geneveCleanupInterval: flag.ignored(),
};

/** The oldest first: of two that exclude each other, the one that was there before stays. */
export function byAge(a: KubeObject, b: KubeObject): number {
  const age = (object: KubeObject) => `${object.metadata.creationTimestamp ?? ""} ${keyOf(object)}`;
  return age(a) < age(b) ? -1 : 1;
}

/** Says, in the log and in an event, why an object is not applied. */
export function describe(
  { runtime, host }: AgentContext,
  run: ReconcileRun,
  object: KubeObject,
  reason: string,
  error: Error,
): void {
  run.log.warn("configuration not applied", { object: keyOf(object), error });
  runtime.events.warning(object, reason, `${host}: ${error.message}`);
}

/** Takes a finalizer off what is being deleted. */
export async function releaseDeleted<T extends KubeObject>(
  { runtime }: AgentContext,
  kind: Kind<T>,
  objects: readonly T[],
  finalizer: string | undefined,
): Promise<void> {
  if (finalizer === undefined) return;
  for (const object of objects.filter(isDeleting)) {
    await withoutFinalizer(runtime.client, kind, object, finalizer);
  }
}
