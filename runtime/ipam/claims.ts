import { Annotation, type IP, isOn, Label, LabelValue, type Network } from "../api";
import { keyOf } from "../kube";
import { parseAddress } from "./address";
import { parseCidr } from "./cidr";
import type { IPClaim, NetworkClaim, NetworkRequest } from "./ipam";

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

/** What may be remapped goes where nobody else is, so there it stays alone. */
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
