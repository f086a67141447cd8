import type { ContainerStatus, PodCondition, PodStatus } from "kubernetes-types/core/v1";

import { ADDRESS_CONDITION, type ReportedAddress, shownAddress, withheldCondition } from "./pod-address";

/** What the status of a local pod depends on besides the remote pod. */
export interface StatusContext {
  /** Address of the virtual node, which the pod's host is. */
  nodeIp: string;
  translateIp: ReportedAddress;
  /** False: pods show no address, because none is reachable from here. */
  reflectIps: boolean;
  /** Restarts to add to what the remote pod counts. */
  restartOffset: number;
  /** The virtual node is not ready: neither is the pod, whatever it says. */
  unavailable: boolean;
  /** RFC 3339 time for conditions that change here. */
  now: string;
}

/** Conditions that the consumer's own controllers set; the remote pod knows nothing of them. */
const LOCAL_CONDITIONS = ["DisruptionTarget"];

/** Fields that speak of objects at the provider, or that the local API server keeps: the local pod's stay. */
const NOT_REFLECTED = [
  "resourceClaimStatuses",
  "extendedResourceClaimStatus",
  "observedGeneration",
  "resize",
];

/**
 * The status of a local pod: that of the remote one, with the addresses as they are reachable from here and the restarts of earlier remote
 * pods counted in (offloading reference 11.7).
 */
export function localStatus(
  remote: PodStatus | undefined,
  current: PodStatus | undefined,
  context: StatusContext,
): PodStatus {
  const status: PodStatus = { ...without(remote, NOT_REFLECTED), ...only(current, NOT_REFLECTED) };

  // The class follows from the local spec and is immutable; the provider's defaults may have given the remote pod another.
  if (current?.qosClass !== undefined) status.qosClass = current.qosClass;
  status.hostIP = context.nodeIp;
  status.hostIPs = [{ ip: context.nodeIp }];
  const { address, withheld } = shownAddress(remote, context);
  withPodIp(status, address);
  if (status.containerStatuses !== undefined && context.restartOffset > 0) {
    status.containerStatuses = status.containerStatuses.map((container) =>
      restarted(container, context.restartOffset),
    );
  }
  const reported = (status.conditions ?? []).filter(({ type }) => type !== ADDRESS_CONDITION);
  status.conditions = localConditions(reported, current?.conditions ?? [], context);
  if (withheld !== undefined) {
    status.conditions.push(withheldCondition(withheld, current?.conditions, context.now));
  }
  return status;
}

function without(status: PodStatus | undefined, fields: readonly string[]): PodStatus {
  return Object.fromEntries(Object.entries(status ?? {}).filter(([field]) => !fields.includes(field)));
}

function only(status: PodStatus | undefined, fields: readonly string[]): PodStatus {
  return Object.fromEntries(Object.entries(status ?? {}).filter(([field]) => fields.includes(field)));
}

function withPodIp(status: PodStatus, address: string | undefined): void {
  delete status.podIP;
  delete status.podIPs;
  if (address === undefined) return;
  status.podIP = address;
  status.podIPs = [{ ip: address }];
}

function restarted(container: ContainerStatus, offset: number): ContainerStatus {
  return { ...container, restartCount: container.restartCount + offset };
}

function localConditions(
  remote: readonly PodCondition[],
  current: readonly PodCondition[],
  { unavailable, now }: StatusContext,
): PodCondition[] {
  const conditions = remote.map(withoutGeneration);
  for (const type of LOCAL_CONDITIONS) {
    const own = current.find((condition) => condition.type === type);
    if (own !== undefined && !conditions.some((condition) => condition.type === type)) conditions.push(own);
  }
  if (!unavailable) return conditions;
  const before = current.find(({ type }) => type === "Ready");
  const notReady: PodCondition = {
    type: "Ready",
    status: "False",
    reason: "RemoteUnavailable",
    message: "the virtual node of this pod is not ready",
    lastTransitionTime: (before?.status === "False" ? before.lastTransitionTime : undefined) ?? now,
  };
  return [...conditions.filter(({ type }) => type !== "Ready"), notReady];
}

/** Generations count changes of the remote spec, which has nothing to do with the local one's. */
function withoutGeneration(condition: PodCondition): PodCondition {
  if (!("observedGeneration" in condition)) return condition;
  const { observedGeneration: _, ...rest } = condition;
  return rest;
}
