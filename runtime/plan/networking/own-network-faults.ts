import { AllocationError, Ipam } from "../../ipam/ipam";
import { parseCidr, sizeOf } from "../../ipam/cidr";
import { parsePools } from "../../ipam/pools";
import { DEFAULT_EXTERNAL, DEFAULT_INTERNAL } from "./networks";
import type { NetworkingSettings } from "./settings";

type Settings = Pick<
  NetworkingSettings,
  "podCidrs" | "serviceCidr" | "externalCidr" | "internalCidr" | "reservedSubnets" | "pools"
>;

/**
 * Why a cluster with these networks finds no place for its external or internal network: asks the address management itself, in the order in which
 * the controllers do (networking reference 6.5).
 *
 * @param settings networks that are well written, and apart from each other
 */
export function ownNetworkFaults(settings: Settings): { path: string[]; message: string }[] {
  const { podCidrs, serviceCidr, reservedSubnets, pools } = settings;
  const ipam = new Ipam(parsePools(pools));
  for (const text of new Set([...podCidrs, serviceCidr, ...reservedSubnets])) {
    const inUse = { immutable: true, exclusive: false, preAllocated: 0 };
    ipam.acquireNetwork(text, { cidr: parseCidr(text), ...inUse });
  }
  for (const [key, what, fallback, preAllocated] of [
    ["externalCidr", "external", DEFAULT_EXTERNAL, 1],
    ["internalCidr", "internal", DEFAULT_INTERNAL, 0],
  ] as const) {
    const given = settings[key];
    const cidr = parseCidr(given ?? fallback);
    try {
      ipam.acquireNetwork(key, { cidr, immutable: given !== undefined, exclusive: true, preAllocated });
    } catch (error) {
      if (!(error instanceof AllocationError)) throw error;
      // Of those that follow nothing is known.
      if (given !== undefined) {
        const wayOut = "choose another network, or give externalCidr one apart from it";
        return [{ path: [key], message: `is where the cluster's external network goes; ${wayOut}` }];
      }
      const message = `${pools.join(", ")} have no ${sizeOf(cidr)} addresses (/${cidr.length}) in a row that are free for the cluster's ${what} network; add a pool, or give ${key} a smaller network`;
      return [{ path: ["pools"], message }];
    }
  }
  return [];
}
