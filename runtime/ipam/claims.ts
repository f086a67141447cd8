import { Annotation, type IP, isOn, Label, LabelValue, type Network } from "../api";
import { keyOf } from "../kube";
import { parseAddress, parseCidr, sameCidr } from "./cidr";
import { type Claims, type IPClaim, type NetworkClaim, type NetworkRequest, sameNetworkClaim } from "./ipam";

/** What a Network asks for. Throws where its CIDR cannot be read. */
export function requestOf(network: Network): NetworkRequest {
  return {
    cidr: parseCidr(network.spec.cidr),
    immutable: isPinned(network),
    exclusive: isExclusive(network),
    preAllocated: network.spec.preAllocated ?? 0,
  };
}

/** What a Network was given; undefined while it was given nothing. Throws where its status cannot be read. */
export function networkClaimOf(network: Network): NetworkClaim | undefined {
  const cidr = network.status?.cidr;
  if (!cidr) return undefined;
  return {
    cidr: parseCidr(cidr),
    exclusive: isExclusive(network),
    preAllocated: network.spec.preAllocated ?? 0,
  };
}

/** What an IP was given; undefined while it was given nothing. Throws where its status cannot be read. */
export function ipClaimOf(ip: IP): IPClaim | undefined {
  const { ip: address, cidr } = ip.status ?? {};
  return address && cidr ? { address: parseAddress(address), cidr: parseCidr(cidr) } : undefined;
}

/** Made at installation: it has no finalizer of ours, so that a removal never waits for it. */
export function isPreinstalled({ metadata }: Network | IP): boolean {
  return isOn(metadata.annotations?.[Annotation.preinstalled]);
}

function isPinned({ metadata }: Network): boolean {
  return isOn(metadata.labels?.[Label.networkNotRemapped]);
}

/** A network that may be remapped gets a free range, which it does not share. */
function isExclusive(network: Network): boolean {
  return network.metadata.labels?.[Label.networkShared] !== LabelValue.true || !isPinned(network);
}

/** Who keeps what both claim: what was installed, then what is older. */
export function bySeniority(a: Network | IP, b: Network | IP): number {
  return (
    Number(isPreinstalled(b)) - Number(isPreinstalled(a)) ||
    (a.metadata.creationTimestamp ?? "").localeCompare(b.metadata.creationTimestamp ?? "") ||
    keyOf(a).localeCompare(keyOf(b))
  );
}

/** What brings the addresses in memory in line with the objects. To be carried out in the order of the fields. */
interface SyncPlan {
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
