import type { IP, Network } from "../api";
import { keyOf } from "../kube";
import { sameCidr } from "./cidr";
import { bySeniority, ipClaimOf, networkClaimOf } from "./claims";
import { type Claims, type IPClaim, type NetworkClaim, sameNetworkClaim } from "./ipam";

/** What brings the addresses in memory in line with the objects. To be carried out in the order of the fields. */
export interface SyncPlan {
  releaseIPs: string[];
  releaseNetworks: string[];
  adoptNetworks: [owner: string, claim: NetworkClaim][];
  adoptIPs: [owner: string, claim: IPClaim][];
}

/**
 * Compares what is held in memory with what the objects say: everything after a start, nothing at other times.
 *
 * What an object holds without a status is being written, and stays. Objects whose status cannot be read are passed over: their
 * controllers say so.
 */
export function syncPlan(held: Claims, networks: readonly Network[], ips: readonly IP[]): SyncPlan {
  const adoptNetworks = claimed(networks, networkClaimOf).filter(
    ([owner, claim]) => !same(sameNetworkClaim, held.networks.get(owner), claim),
  );
  const adoptIPs = claimed(ips, ipClaimOf).filter(
    ([owner, claim]) => !same(sameIPClaim, held.ips.get(owner), claim),
  );
  return {
    releaseIPs: unknownOwners(held.ips, ips, adoptIPs),
    releaseNetworks: unknownOwners(held.networks, networks, adoptNetworks),
    adoptNetworks,
    adoptIPs,
  };
}

export function isEmptyPlan(plan: SyncPlan): boolean {
  return Object.values(plan).every((steps: unknown[]) => steps.length === 0);
}

function claimed<T extends Network | IP, C>(
  objects: readonly T[],
  claimOf: (object: T) => C | undefined,
): [string, C][] {
  return [...objects].sort(bySeniority).flatMap((object): [string, C][] => {
    try {
      const claim = claimOf(object);
      return claim === undefined ? [] : [[keyOf(object), claim]];
    } catch {
      return [];
    }
  });
}

/** Of what is held: whose object is gone, or was given something else since. */
function unknownOwners(
  held: ReadonlyMap<string, unknown>,
  objects: readonly (Network | IP)[],
  adopt: readonly [string, unknown][],
): string[] {
  const present = new Set(objects.map(keyOf));
  const changed = new Set(adopt.map(([owner]) => owner));
  return [...held.keys()].filter((owner) => !present.has(owner) || changed.has(owner));
}

function same<C>(equal: (a: C, b: C) => boolean, held: C | undefined, claim: C): boolean {
  return held !== undefined && equal(held, claim);
}

function sameIPClaim(a: IPClaim, b: IPClaim): boolean {
  return a.address === b.address && sameCidr(a.cidr, b.cidr);
}
