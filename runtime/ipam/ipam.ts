import {
  type Cidr,
  containsAddress,
  containsCidr,
  formatAddress,
  formatCidr,
  overlaps,
  sameCidr,
  sizeOf,
} from "./cidr";
import { NextFit } from "./next-fit";
import { conflictOf, type OwnRange } from "./own-addresses";
import { PrefixTree } from "./prefix-tree";

type AllocationFailure =
  | "AddressConflict"
  | "NetworkConflict"
  | "NetworkExhausted"
  | "NetworkNotFound"
  | "OutsidePools"
  | "PoolsExhausted"
  | "TooManyPreAllocated"
  | "UnusableRange";

/** A network or an address cannot be given: trying again helps only when something else has changed. */
export class AllocationError extends Error {
  override readonly name = "AllocationError";

  constructor(
    readonly reason: AllocationFailure,
    message: string,
  ) {
    super(message);
  }
}

/** A network that somebody wants to use. */
export interface NetworkRequest {
  cidr: Cidr;
  /** This network or none; otherwise another of the same size will do. */
  immutable: boolean;
  /** No other may overlap it. Networks that may be another one are always exclusive. */
  exclusive: boolean;
  /** Addresses that are set aside, from the first one. */
  preAllocated: number;
}

/** A network in use. */
export type NetworkClaim = Omit<NetworkRequest, "immutable">;

export function sameNetworkClaim(a: NetworkClaim, b: NetworkClaim): boolean {
  return sameCidr(a.cidr, b.cidr) && a.exclusive === b.exclusive && a.preAllocated === b.preAllocated;
}

/** An address in use, and the network that it was taken from. */
export interface IPClaim {
  address: number;
  cidr: Cidr;
}

/** What is in use, by owner. */
export interface Claims {
  readonly networks: ReadonlyMap<string, NetworkClaim>;
  readonly ips: ReadonlyMap<string, IPClaim>;
}

/**
 * The addresses of a cluster: which networks are in use, and which addresses of them (networking reference 6).
 *
 * It keeps everything in memory; the database is the status of the Networks and IPs, whose keys are the owners here. To acquire again
 * what one holds already gives the same, so a controller may die, or fail to write, between any two of its steps.
 */
export class Ipam implements Claims {
  readonly networks = new Map<string, NetworkClaim>();
  readonly ips = new Map<string, IPClaim>();
  private readonly trees: readonly PrefixTree[];
  /** Addresses in use of each network, by its CIDR. They outlive the network, since their owners do. */
  private readonly blocks = new Map<string, NextFit>();

  /**
   * @param pools disjoint, in the order in which free networks are looked for
   * @param own what of the cluster's own no network may hold that can go elsewhere
   */
  constructor(
    private readonly pools: readonly Cidr[],
    private readonly own: () => readonly OwnRange[] = () => [],
  ) {
    this.trees = pools.map((pool) => new PrefixTree(pool));
  }

  /**
   * The owner's network: the one asked for where it is free, else, unless the request is immutable, another of its size.
   *
   * @throws AllocationError where there is none
   */
  acquireNetwork(owner: string, request: NetworkRequest): Cidr {
    const { cidr, immutable, preAllocated } = request;
    const exclusive = !immutable || request.exclusive;
    const held = this.networks.get(owner);
    if (held !== undefined) {
      const fits = immutable ? sameCidr(held.cidr, cidr) : held.cidr.length === cidr.length;
      if (fits && held.exclusive === exclusive && held.preAllocated === preAllocated) return held.cidr;
      this.releaseNetwork(owner);
    }
    checkPreAllocated(request);
    const claim = { cidr, exclusive, preAllocated };
    if (!immutable) return this.acquireRemappable(owner, claim);
    if (exclusive && !this.pools.some((pool) => containsCidr(pool, cidr))) {
      throw new AllocationError(
        "OutsidePools",
        `${formatCidr(cidr)} must not be remapped, and lies outside the pools ${this.describePools()}; add a pool that holds it`,
      );
    }
    this.hold(owner, claim);
    return cidr;
  }

  /**
   * Takes up a network that the owner was given earlier.
   *
   * @throws AllocationError where others hold what it overlaps
   */
  adoptNetwork(owner: string, claim: NetworkClaim): void {
    const held = this.networks.get(owner);
    if (held !== undefined) {
      if (sameNetworkClaim(held, claim)) return;
      this.releaseNetwork(owner);
    }
    this.hold(owner, claim);
  }

  /** Does nothing where the owner holds no network. */
  releaseNetwork(owner: string): void {
    const claim = this.networks.get(owner);
    if (claim === undefined) return;
    this.networks.delete(owner);
    for (const [tree, part] of this.partsInPools(claim.cidr)) tree.release(part);
    this.dropBlockIfUnused(claim.cidr);
  }

  /** Whether nobody uses any address of the network, and the pools hold it. */
  isAvailable(cidr: Cidr): boolean {
    const tree = this.trees.find(({ pool }) => containsCidr(pool, cidr));
    return tree?.isAvailable(cidr) ?? false;
  }

  /**
   * The owner's address in a network that is in use.
   *
   * @throws AllocationError where the network is not in use, or has no address left
   */
  acquireIP(owner: string, cidr: Cidr): number {
    const held = this.ips.get(owner);
    if (held !== undefined) {
      if (sameCidr(held.cidr, cidr)) return held.address;
      this.releaseIP(owner);
    }
    const holders = [...this.networks.values()].filter((claim) => sameCidr(claim.cidr, cidr));
    if (holders.length === 0) {
      throw new AllocationError(
        "NetworkNotFound",
        `no Network has ${formatCidr(cidr)}, so it has no addresses to give`,
      );
    }
    const reserved = Math.max(...holders.map(({ preAllocated }) => preAllocated));
    const address = this.blockOf(cidr).acquire(owner, cidr.address + reserved);
    if (address === undefined) {
      throw new AllocationError(
        "NetworkExhausted",
        `all ${sizeOf(cidr)} addresses of ${formatCidr(cidr)} are in use; delete IPs that are not needed`,
      );
    }
    this.ips.set(owner, { address, cidr });
    return address;
  }

  /**
   * Takes up an address that the owner was given earlier.
   *
   * @throws AllocationError where another has it, or the network does not
   */
  adoptIP(owner: string, claim: IPClaim): void {
    const { address, cidr } = claim;
    if (!containsAddress(cidr, address)) {
      throw new AllocationError(
        "AddressConflict",
        `${formatAddress(address)} is no address of ${formatCidr(cidr)}`,
      );
    }
    const held = this.ips.get(owner);
    if (held !== undefined && !sameCidr(held.cidr, cidr)) this.releaseIP(owner);
    const other = this.blockOf(cidr).adopt(owner, address);
    if (other !== undefined) {
      throw new AllocationError(
        "AddressConflict",
        `${formatAddress(address)} is the address of IP ${other} already`,
      );
    }
    this.ips.set(owner, claim);
  }

  /** Does nothing where the owner holds no address. */
  releaseIP(owner: string): void {
    const claim = this.ips.get(owner);
    if (claim === undefined) return;
    this.ips.delete(owner);
    this.blockOf(claim.cidr).release(owner);
    this.dropBlockIfUnused(claim.cidr);
  }

  private acquireRemappable(owner: string, claim: NetworkClaim): Cidr {
    const { cidr } = claim;
    const own = this.own();
    const isOwn = (range: Cidr) => conflictOf(range, own) !== undefined;
    const tree = this.trees.find(({ pool }) => containsCidr(pool, cidr));
    if (!isOwn(cidr) && tree?.acquire(cidr, true) === true) {
      this.networks.set(owner, claim);
      return cidr;
    }
    for (const other of this.trees) {
      const found = other.acquireAny(cidr.length, isOwn);
      if (found === undefined) continue;
      this.networks.set(owner, { ...claim, cidr: found });
      return found;
    }
    throw new AllocationError(
      "PoolsExhausted",
      `no network of ${sizeOf(cidr)} addresses (/${cidr.length}) is free in the pools ${this.describePools()}; add a pool`,
    );
  }

  private hold(owner: string, claim: NetworkClaim): void {
    const { cidr, exclusive } = claim;
    const inPool = this.pools.some((pool) => containsCidr(pool, cidr));
    const taken: [PrefixTree, Cidr][] = [];
    const free =
      (inPool || !this.clashes(claim)) &&
      this.partsInPools(cidr).every(
        ([tree, part]) => tree.acquire(part, exclusive) && taken.push([tree, part]) > 0,
      );
    if (!free) {
      for (const [tree, part] of taken) tree.release(part);
      throw new AllocationError(
        "NetworkConflict",
        `${formatCidr(cidr)} overlaps ${this.describeHolders(claim)}; give one of them another range`,
      );
    }
    this.networks.set(owner, claim);
  }

  /** What of a network the pools hold: itself in one of them, or all of those that it covers. */
  private partsInPools(cidr: Cidr): [PrefixTree, Cidr][] {
    return this.trees.flatMap((tree): [PrefixTree, Cidr][] => {
      if (containsCidr(tree.pool, cidr)) return [[tree, cidr]];
      return containsCidr(cidr, tree.pool) ? [[tree, tree.pool]] : [];
    });
  }

  /** What the trees tell of networks in the pools. Outside nothing is ever given out, but two objects may still claim the same. */
  private clashes(claim: NetworkClaim): boolean {
    return [...this.networks.values()].some((other) => clash(claim, other));
  }

  private blockOf(cidr: Cidr): NextFit {
    const key = formatCidr(cidr);
    let block = this.blocks.get(key);
    if (block === undefined) {
      block = new NextFit(cidr.address, cidr.address + sizeOf(cidr) - 1);
      this.blocks.set(key, block);
    }
    return block;
  }

  private dropBlockIfUnused(cidr: Cidr): void {
    const key = formatCidr(cidr);
    if (this.blocks.get(key)?.size !== 0) return;
    if ([...this.networks.values()].some((claim) => sameCidr(claim.cidr, cidr))) return;
    this.blocks.delete(key);
  }

  private describePools(): string {
    return this.pools.map(formatCidr).join(", ");
  }

  private describeHolders(claim: NetworkClaim): string {
    return [...this.networks]
      .filter(([, other]) => clash(claim, other))
      .map(([owner, { cidr }]) => `Network ${owner} (${formatCidr(cidr)})`)
      .sort()
      .join(", ");
  }
}

function clash(a: NetworkClaim, b: NetworkClaim): boolean {
  return (a.exclusive || b.exclusive) && overlaps(a.cidr, b.cidr);
}

function checkPreAllocated({ cidr, preAllocated }: NetworkRequest): void {
  if (preAllocated <= sizeOf(cidr)) return;
  throw new AllocationError(
    "TooManyPreAllocated",
    `preAllocated is ${preAllocated}, but ${formatCidr(cidr)} has ${sizeOf(cidr)} addresses`,
  );
}
