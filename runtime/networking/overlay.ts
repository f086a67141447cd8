import { createHash } from "node:crypto";

import { formatAddress, parseAddress } from "../ipam/address";
import { type Cidr, containsAddress, formatCidr, sizeOf } from "../ipam/cidr";
import { NextFit } from "../ipam/next-fit";

/** The overlay between the nodes of a cluster and its gateways: addresses, interface names and network identifiers. Internal to a cluster. */

/** Letters that cannot spell words, as in names that Kubernetes draws. */
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
