import * as flag from "../component/flags";

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
