import { z } from "zod";
import * as flag from "../component/flags";
import { agentFlags } from "../networking/agent-flags";

/** Flags of the agent on each node, by upstream's names (networking reference 19.2). */
export const fabricFlags = z.object({
  nodename: flag.text(process.env.NODE_NAME ?? ""),
  /** With its namespace, tells whether the agent goes for good when it ends. */
  podname: flag.text(process.env.POD_NAME ?? ""),
  podNamespace: flag.text(process.env.POD_NAMESPACE ?? ""),
  /** Removes what agents have put on this node, and ends. */
  cleanUp: flag.boolean(false),
  ...agentFlags,
  /** Off, because nft reads everything that the host has on each change of anybody's; the next look comes soon enough. */
  enableNftMonitor: flag.boolean(false),
});
export type FabricFlags = z.output<typeof fabricFlags>;
