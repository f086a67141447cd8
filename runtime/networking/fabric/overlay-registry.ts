import type { InternalFabric, InternalNode } from "../../api";
import { type Cidr, parseCidr, sameCidr } from "../../ipam/cidr";
import { NetworkType, typeOf } from "../../ipam/network-stage";
import { keyOf, type Source, watches } from "../../kube";
import type { NetworkingCaches } from "../caches";
import { OverlayAddresses } from "../overlay";

/** Key of an object among all that have an address of the overlay. */
export function overlayOwner(object: InternalNode | InternalFabric): string {
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
