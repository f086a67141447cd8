import { z } from "zod";

import type { InputFault } from "./resource-definition";

/** The two ends of a tunnel. */
export const gatewayEnd = z.enum(["GatewayServer", "GatewayClient"]);
type GatewayEnd = z.output<typeof gatewayEnd>;

/**
 * Refuses a tunnel that is turned round. A cluster has one gateway for a peer: a run removes the former end as its last step, and until then neither of
 * the two works.
 */
export function sameEnd(
  property: string,
  before: GatewayEnd | undefined,
  now: GatewayEnd | undefined,
): InputFault[] {
  if (before === undefined || now === undefined || before === now) return [];
  const reason = `is "${now}", but the cluster has the ${before} of this peering, and cannot have both. Put "server" back as it was; or take the network of the peering out, run once, and then give the other server`;
  return [{ property, reason }];
}
