import { isIP } from "node:net";

import ipaddr from "ipaddr.js";
import type { PodCondition, PodStatus } from "kubernetes-types/core/v1";

import { type CidrPair, ipTranslation } from "./ip-translation";

/**
 * The address under which one that a provider reports is shown here; undefined for one that is not the provider's to say. Clients of this
 * cluster's Services send wherever a pod's address leads.
 */
export type ReportedAddress = (ip: string) => string | undefined;

/** On a pod whose address is withheld: why. */
export const ADDRESS_CONDITION = "liqo.io/AddressReflected";
const REASON = "OutsideOfProviderNetworks";

/** Kinds of addresses that a pod can have; all others mean something on the host that sends to them, or to nobody. */
const USABLE = new Set(["unicast", "private", "uniqueLocal", "carrierGradeNat", "reserved"]);

/** Without networking between the clusters nothing is known of the provider's networks: an address is shown as it is reported, if a pod can have it. */
export const asReported: ReportedAddress = (ip) => {
  if (isIP(ip) === 0) return undefined;
  return USABLE.has(ipaddr.process(ip).range()) && !isOldReserved(ip) ? ip : undefined;
};

/** With networking: addresses of the provider's networks alone, as this cluster reaches them. */
export function withinNetworks(pairs: readonly CidrPair[]): ReportedAddress {
  const networks = pairs.map(({ original }) => ipaddr.parseCIDR(original));
  const translate = ipTranslation(pairs);
  return (ip) => {
    if (isIP(ip) === 0) return undefined;
    const address = ipaddr.parse(ip);
    const holds = networks.some(
      ([network, bits]) => network.kind() === address.kind() && address.match([network, bits]),
    );
    return holds ? translate(ip) : undefined;
  };
}

/** What a pod here shows of the addresses that its provider reports. */
export interface ShownAddress {
  address?: string;
  /** Reported, and not the provider's to say. */
  withheld?: string;
}

/** Of several reported addresses the first one that is the provider's: the others may be of a family that is not carried. */
export function shownAddress(
  remote: Pick<PodStatus, "podIP" | "podIPs"> | undefined,
  { translateIp, reflectIps }: { translateIp: ReportedAddress; reflectIps: boolean },
): ShownAddress {
  if (!remote?.podIP || !reflectIps) return {};
  const reported = new Set([remote.podIP, ...(remote.podIPs ?? []).flatMap(({ ip }) => ip ?? [])]);
  for (const ip of reported) {
    const address = translateIp(ip);
    if (address !== undefined) return { address };
  }
  return { withheld: remote.podIP };
}

/** For people. */
export function whyWithheld(reported: string): string {
  return (
    `the provider reports the address ${reported}, which is in none of its networks that this cluster has a place for, so the pod shows none; ` +
    "see spec.remote.cidr and the condition of the Configuration for the provider, and add what is missing there"
  );
}

/** Says on the pod why it has no address. */
export function withheldCondition(
  reported: string,
  current: readonly PodCondition[] | undefined,
  now: string,
): PodCondition {
  const before = current?.find(({ type }) => type === ADDRESS_CONDITION);
  return {
    type: ADDRESS_CONDITION,
    status: "False",
    reason: REASON,
    message: whyWithheld(reported),
    lastTransitionTime: before?.lastTransitionTime ?? now,
  };
}

/** 240.0.0.0/4: no router carries it. The library calls documentation networks reserved as well, which tests and labs use. */
function isOldReserved(ip: string): boolean {
  const first = Number(ip.split(".")[0]);
  return ipaddr.IPv4.isValid(ip) && first >= 240;
}
