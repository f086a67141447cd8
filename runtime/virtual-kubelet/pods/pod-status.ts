import type { ContainerStatus, PodCondition, PodStatus } from "kubernetes-types/core/v1";

import type { ReportedAddress } from "../peer/peer-network";

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
 * Conditions that kubelets and schedulers write: they are taken from the remote pod. All others are set by controllers and refer to objects of their own
 * cluster: those set here stay, those set at the provider are dropped.
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
/** Set by evictions, which happen in either cluster. */
const EVICTED = "DisruptionTarget";

/** Fields that speak of objects at the provider, or that the local API server keeps: the local pod's stay. */
const NOT_REFLECTED = [
  "resourceClaimStatuses",
  "extendedResourceClaimStatus",
  "observedGeneration",
  "resize",
];

/**
 * The status of a local pod: that of the remote pod, with addresses that are reachable from here, and with the restarts of earlier remote pods added
 * (offloading reference 11.7).
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

/** Reason of a pod whose containers are ready and one of whose gates is not, as kubelets write it. */
const NOT_MET = "ReadinessGatesNotReady";

/**
 * Conditions of a pod with Ready as a kubelet of this cluster would set it: once the containers are ready and each gate of the pod's spec is met. The gates'
 * conditions are set by controllers here, so the remote pod has no gates. (A remote pod that upstream Liqo made has them, and never becomes ready.)
 *
 * @param gates types of the conditions that the pod waits for
 * @param before the present Ready condition, whose time stays while its status does
 * @param now RFC 3339
 */
function withReadinessGates(
  conditions: PodCondition[],
  gates: readonly string[],
  before: PodCondition | undefined,
  now: string,
): PodCondition[] {
  const ready = conditions.find(({ type }) => type === "Ready");
  if (gates.length === 0 || ready === undefined || !isReadyButForGates(ready, conditions)) return conditions;
  const unmet = gates.flatMap((type) => problemOf(type, conditions));
  const status = unmet.length === 0 ? "True" : "False";
  const decided: PodCondition = {
    type: "Ready",
    status,
    ...(unmet.length > 0 && { reason: NOT_MET, message: unmet.join(", ") }),
    lastTransitionTime: (before?.status === status ? before.lastTransitionTime : undefined) ?? now,
  };
  return conditions.map((condition) => (condition === ready ? decided : condition));
}

function isReadyButForGates(ready: PodCondition, conditions: readonly PodCondition[]): boolean {
  const containers = conditions.find(({ type }) => type === "ContainersReady");
  return ready.status === "True" || (ready.reason === NOT_MET && containers?.status === "True");
}

/** The message of a kubelet. */
function problemOf(type: string, conditions: readonly PodCondition[]): string[] {
  const status = conditions.find((condition) => condition.type === type)?.status;
  if (status === undefined)
    return [`corresponding condition of pod readiness gate "${type}" does not exist.`];
  return status === "True" ? [] : [`the status of pod readiness gate "${type}" is not "True", but ${status}`];
}

/** What is remembered about the remote incarnations of one local pod. */
export interface RestartMemory {
  /** The local incarnation that the memory is about; another one starts from zero. */
  localUid: string;
  remoteUid: string;
  /** Restarts to add to what the remote pod counts. */
  offset: number;
}

interface LocalView {
  uid: string;
  status: PodStatus | undefined;
}

interface RemoteView {
  uid: string;
  status: PodStatus | undefined;
}

/**
 * The number of restarts to add to the remote counts: each remote pod that replaced another counts as one. At first sight, as after a start of
 * this process, it is what the local pod already shows beyond the remote count of its first container (offloading reference 11.7).
 */
export function rememberRestarts(
  memory: RestartMemory | undefined,
  local: LocalView,
  remote: RemoteView,
): RestartMemory {
  if (memory?.localUid !== local.uid) {
    return { localUid: local.uid, remoteUid: remote.uid, offset: firstOffset(local.status, remote.status) };
  }
  if (memory.remoteUid === remote.uid) return memory;
  return { localUid: local.uid, remoteUid: remote.uid, offset: memory.offset + 1 };
}

function firstOffset(local: PodStatus | undefined, remote: PodStatus | undefined): number {
  const shown = local?.containerStatuses?.[0];
  if (shown === undefined) return 0;
  const counted = remote?.containerStatuses?.find(({ name }) => name === shown.name);
  return Math.max(0, shown.restartCount - (counted?.restartCount ?? 0));
}

/** On a pod whose address is withheld: why. */
const ADDRESS_CONDITION = "liqo.io/AddressReflected";
const REASON = "OutsideOfProviderNetworks";

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
function withheldCondition(
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
