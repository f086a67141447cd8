import { isIPv4 } from "node:net";

import { type Configuration, ConditionReason, type Pod } from "../api";
import { conditionStatus } from "../kube";
import {
  type Cidr,
  containsAddress,
  formatAddress,
  parseAddress,
  parseCidr,
  remapAddress,
  sameCidr,
} from "../ipam/cidr";

/** The condition of a Configuration that says that every network of the peer has its place here. */
export const CIDRS_CONFIGURED = ConditionReason.networkCIDRsConfigured;

/** A network as its cluster knows it, and as this cluster reaches it. */
interface CidrMapping {
  original: Cidr;
  remapped: Cidr;
}

/** Whether a Configuration was answered for the spec that it has now: only then what its status says may be used (networking reference 7). */
export function isConfigured({ metadata, status }: Configuration): boolean {
  const condition = status?.conditions?.find(({ type }) => type === CIDRS_CONFIGURED);
  return condition?.status === "True" && condition.observedGeneration === metadata.generation;
}

/** Whether a network of the peer's has a place here that is this cluster's own: then nothing is sent to the peer at all. */
export function isInConflict({ status }: Configuration): boolean {
  const condition = status?.conditions?.find(({ type }) => type === CIDRS_CONFIGURED);
  return condition?.status === "False" && condition.reason === ConditionReason.networkRangeConflict;
}

/** The peer's networks of a type, in the order of the spec; those without an answer are left out. */
export function cidrMappings(configuration: Configuration, type: "pod" | "external"): CidrMapping[] {
  const originals = configuration.spec.remote?.cidr?.[type] ?? [];
  const remapped = configuration.status?.remote?.cidr?.[type] ?? [];
  return originals.flatMap((original, index) => {
    const here = remapped[index];
    return here ? [{ original: parseCidr(original), remapped: parseCidr(here) }] : [];
  });
}

/** Whether a network has another place here than in its cluster. */
export function isRemapped({ original, remapped }: CidrMapping): boolean {
  return !sameCidr(original, remapped);
}

/**
 * The address under which this cluster reaches an address of the peer's: looked up in its pod networks, then in its external ones. An address
 * of no network of the peer's stays as it is (offloading reference 12.4).
 *
 * @throws Error while the Configuration has no answer
 */
export function mapAddress(address: string, configuration: Configuration): string {
  if (conditionStatus(configuration.status?.conditions, CIDRS_CONFIGURED) !== "True") {
    throw new Error(`${nameOf(configuration)} is not remapped yet`);
  }
  const mappings = [...cidrMappings(configuration, "pod"), ...cidrMappings(configuration, "external")];
  return mapped(address, mappings) ?? address;
}

/** The same, for what only a peer's own addresses are good for: undefined where none of its networks holds the address. */
export function mapOwnAddress(address: string, configuration: Configuration): string | undefined {
  return mapped(address, [...cidrMappings(configuration, "pod"), ...cidrMappings(configuration, "external")]);
}

/**
 * The address under which this cluster reaches a pod of the peer's.
 *
 * @throws Error when the address is in none of the peer's pod networks, or they have no answer
 */
export function mapPodAddress(address: string, configuration: Configuration): string {
  const here = mapped(address, cidrMappings(configuration, "pod"));
  if (here === undefined) {
    throw new Error(
      `${address} is in no pod network of ${nameOf(configuration)} that has its place in this cluster`,
    );
  }
  return here;
}

/** The IPv4 address of a pod. In a dual-stack cluster it may be the second one. */
export function podAddress({ status }: Pod): string | undefined {
  const addresses = [status?.podIP, ...(status?.podIPs ?? []).map(({ ip }) => ip)];
  return addresses.find((address) => address !== undefined && isIPv4(address));
}

/**
 * The address that stands for every sender that peers do not know: nodes, and whatever else is no pod. It is the first one of a cluster's
 * external network (networking reference 8).
 */
export function unknownSource(externalCidr: Cidr): string {
  return formatAddress(externalCidr.address);
}

function mapped(address: string, mappings: readonly CidrMapping[]): string | undefined {
  if (!isIPv4(address)) return undefined;
  const number = parseAddress(address);
  const mapping = mappings.find(({ original }) => containsAddress(original, number));
  return mapping && formatAddress(remapAddress(number, mapping.remapped));
}

function nameOf({ metadata: { namespace = "", name } }: Configuration): string {
  return `Configuration ${namespace}/${name}`;
}
