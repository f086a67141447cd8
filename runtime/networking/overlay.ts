import { createHash } from "node:crypto";

import type { InternalFabric, InternalNode } from "../api";
import {
  type Cidr,
  containsAddress,
  formatAddress,
  formatCidr,
  parseAddress,
  parseCidr,
  sameCidr,
  sizeOf,
} from "../ipam/cidr";
import { NetworkType, typeOf } from "../ipam/network-stage";
import { NextFit } from "../ipam/next-fit";
import { keyOf, type Source, watches } from "../kube";
import type { NetworkingCaches } from "./caches";

/** The overlay between the nodes of a cluster and its gateways: addresses, interface names and network identifiers. Internal to a cluster. */

/** The letters of the random suffixes of Kubernetes names, which spell no words. */
const SAFE_ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

export const OVERLAY_INTERFACE_PREFIX = "liqo.";

/** The highest identifier of a network that both geneve and vxlan have, 24 bits, without the last. */
const LAST_NETWORK_ID = 2 ** 24 - 2;

/**
 * Name of the interface towards a node or a gateway: 15 characters, which is all that the kernel takes. It follows from what the interface is for, so that an
 * object that is made anew leads to the same interface.
 *
 * @param key kind and key of the object at the other end, such as `InternalNode worker-1`
 */
export function overlayInterface(key: string): string {
  const digest = createHash("sha256").update(key).digest();
  let name = OVERLAY_INTERFACE_PREFIX;
  for (const byte of digest.subarray(0, 10)) name += SAFE_ALPHABET[byte % SAFE_ALPHABET.length];
  return name;
}

/**
 * Addresses of nodes and gateways in the internal network. The first and the last address are not given (networking reference 6.6).
 *
 * Owners are kind and key: a node and a gateway may have the same name.
 */
export class OverlayAddresses {
  private readonly addresses: NextFit;

  constructor(private readonly internalCidr: Cidr) {
    this.addresses = new NextFit(internalCidr.address + 1, internalCidr.address + sizeOf(internalCidr) - 2);
  }

  /** @throws Error where all are in use */
  acquire(owner: string): string {
    const address = this.addresses.acquire(owner);
    if (address === undefined) {
      throw new Error(
        `the internal network ${formatCidr(this.internalCidr)} has no address left for ${owner}; choose a larger one at installation`,
      );
    }
    return formatAddress(address);
  }

  /** Takes up an address that the owner has had; false where another has it, or the network does not. */
  adopt(owner: string, address: string): boolean {
    const number = parseAddress(address);
    return containsAddress(this.internalCidr, number) && this.addresses.adopt(owner, number) === undefined;
  }

  release(owner: string): void {
    this.addresses.release(owner);
  }
}

/** Identifiers of the networks between one node and one gateway: 0, 1, 2, and so on. */
export function networkIds(): NextFit {
  return new NextFit(0, LAST_NETWORK_ID);
}

/** Marks of nodes on connections that came from them: 1, 2, 3, and so on. */
export function nodeMarks(): NextFit {
  return new NextFit(1, 0xffffffff);
}

/** Key of an object among all that have an address of the overlay. */
function overlayOwner(object: InternalNode | InternalFabric): string {
  return overlayOwnerKey(object.kind, keyOf(object));
}

export function overlayOwnerKey(kind: "InternalNode" | "InternalFabric", key: string): string {
  return `${kind} ${key}`;
}

/**
 * The addresses of the overlay, in the internal network that the cluster has now. What objects have is taken up when they are first asked
 * for, nodes before gateways, and again when the internal network is another one.
 */
export class OverlayRegistry {
  private addresses: { of: Cidr; given: OverlayAddresses } | undefined;

  constructor(private readonly caches: NetworkingCaches) {
    caches.internalNodes.on({ deleted: (node) => this.release(node) });
    caches.internalFabrics.on({ deleted: (fabric) => this.release(fabric) });
  }

  /** Wakes all that have an address when the internal network gets, or changes, its range. */
  changes(keys: () => string[]): Source {
    return watches(this.caches.networks, {
      keys: (network) => (typeOf(network) === NetworkType.internal ? keys() : []),
    });
  }

  /**
   * The address of an object's: the one that it has where that is in the internal network and its own, else another. Undefined while the internal network
   * has no range.
   */
  addressOf(owner: string, present: string | undefined): string | undefined {
    const addresses = this.current();
    if (addresses === undefined) return undefined;
    if (present !== undefined && addresses.adopt(owner, present)) return present;
    return addresses.acquire(owner);
  }

  private current(): OverlayAddresses | undefined {
    const network = this.caches.networks
      .list()
      .find((candidate) => typeOf(candidate) === NetworkType.internal);
    if (!network?.status?.cidr) return undefined;
    const cidr = parseCidr(network.status.cidr);
    if (this.addresses !== undefined && sameCidr(this.addresses.of, cidr)) return this.addresses.given;
    const given = new OverlayAddresses(cidr);
    for (const node of this.caches.internalNodes.list()) {
      given.adopt(overlayOwner(node), node.spec.interface.node.ip);
    }
    for (const fabric of this.caches.internalFabrics.list()) {
      given.adopt(overlayOwner(fabric), fabric.spec.interface.gateway.ip);
    }
    this.addresses = { of: cidr, given };
    return given;
  }

  private release(object: InternalNode | InternalFabric): void {
    this.addresses?.given.release(overlayOwner(object));
  }
}
