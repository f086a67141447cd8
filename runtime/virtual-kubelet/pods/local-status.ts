import type { ContainerStatus, PodCondition, PodStatus } from "kubernetes-types/core/v1";

import { ADDRESS_CONDITION, type ReportedAddress, shownAddress, withheldCondition } from "./pod-address";
import { withReadinessGates } from "./readiness-gates";

/** What the status of a local pod depends on besides the remote pod. */
export interface StatusContext {
  /** Address of the virtual node, which the pod's host is. */
  nodeIp: string;
  translateIp: ReportedAddress;
  /** False: pods show no address, because none is reachable from here. */
  reflectIps: boolean;
  /** Restarts to add to what the remote pod counts. */
  restartOffset: number;
  /** Types of the conditions that the pod waits for before it is ready, as its spec names them. They are set here. */
  readinessGates: readonly string[];
  /** The virtual node is not ready: neither is the pod, whatever it says. */
  unavailable: boolean;
  /** RFC 3339 time for conditions that change here. */
  now: string;
}

/**
 * Conditions that kubelets and schedulers write: the remote pod's are the pod's. All others are set by controllers of the cluster that a pod is in, and speak
 * of objects there: those of this cluster stay, those of the provider are not taken.
 */
const REFLECTED_CONDITIONS: ReadonlySet<string> = new Set([
  "PodScheduled",
  "PodReadyToStartContainers",
  "Initialized",
  "ContainersReady",
  "Ready",
  "PodResizePending",
  "PodResizeInProgress",
  "AllContainersRestarting",
]);
/** Whoever evicts a pod says so, in either cluster. */
const EVICTED = "DisruptionTarget";

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
  status.conditions = localConditions(status.conditions ?? [], current?.conditions ?? [], context);
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
  { readinessGates, unavailable, now }: StatusContext,
): PodCondition[] {
  const reported = remote
    .filter(({ type }) => REFLECTED_CONDITIONS.has(type) || type === EVICTED)
    .map(withoutGeneration);
  const own = current.filter(
    ({ type }) =>
      !REFLECTED_CONDITIONS.has(type) &&
      type !== ADDRESS_CONDITION &&
      !reported.some((condition) => condition.type === type),
  );
  const before = current.find(({ type }) => type === "Ready");
  const conditions = withReadinessGates([...reported, ...own], readinessGates, before, now);
  if (!unavailable) return conditions;
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
