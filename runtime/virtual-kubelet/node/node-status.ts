import type { ContainerImage, NodeCondition, NodeStatus } from "kubernetes-types/core/v1";
import { isDeepStrictEqual } from "node:util";

import type { Node } from "../../api/kubernetes";
import { isQuantity, parseQuantity } from "../../api/quantity";

/** What the status of a virtual node follows from. */
export interface NodeStatusInput {
  /** The granted resources (`resourceQuota.hard`): capacity and allocatable alike. */
  resources: Record<string, string>;
  /** Absent where the network between the clusters does not matter. */
  networkReady?: boolean;
  images?: readonly ContainerImage[];
  /** Address and port of the kubelet endpoint. */
  address: string;
  port: number;
  /** Version of the consumer's API server, shown as the kubelet's. */
  kubeletVersion: string;
}

/** The conditions as they stand on the Node, with times. */
interface Timed {
  now: string;
  /** Age from which the heartbeat times of unchanged conditions are renewed, in milliseconds. */
  heartbeatMs: number;
}

/**
 * The strategic merge patch of a Node's status, or undefined when nothing differs and the heartbeat is recent enough. Resources that are no
 * longer granted are removed; conditions that are not ours stay.
 */
export function nodeStatusPatch(
  node: Node,
  input: NodeStatusInput,
  timed: Timed,
): { status: NodeStatus } | undefined {
  const status = node.status ?? {};
  const patch: Record<string, unknown> = {};
  const resources = mapPatch(status.capacity, input.resources);
  if (resources !== undefined) patch.capacity = resources;
  const allocatable = mapPatch(status.allocatable, input.resources);
  if (allocatable !== undefined) patch.allocatable = allocatable;

  const addresses = [{ type: "InternalIP", address: input.address }];
  if (!isDeepStrictEqual(status.addresses, addresses))
    patch.addresses = [...addresses, { $patch: "replace" }];
  if (status.daemonEndpoints?.kubeletEndpoint?.Port !== input.port) {
    patch.daemonEndpoints = { kubeletEndpoint: { Port: input.port } };
  }
  const { nodeInfo } = status;
  const info = { architecture: "amd64", operatingSystem: "Linux", kubeletVersion: input.kubeletVersion };
  if (
    Object.entries(info).some(
      ([key, value]) => (nodeInfo as Record<string, unknown> | undefined)?.[key] !== value,
    )
  ) {
    patch.nodeInfo = info;
  }
  if (!isDeepStrictEqual(status.images ?? [], input.images ?? [])) patch.images = input.images ?? [];

  const conditions = conditionsPatch(status.conditions ?? [], input, timed);
  if (conditions.length > 0) patch.conditions = conditions;
  return Object.keys(patch).length === 0 ? undefined : { status: patch };
}

function mapPatch(
  existing: Record<string, string> | undefined,
  desired: Record<string, string>,
): Record<string, string | null> | undefined {
  const patch: Record<string, string | null> = {};
  for (const [key, value] of Object.entries(desired)) {
    if (!sameQuantity(existing?.[key], value)) patch[key] = value;
  }
  for (const key of Object.keys(existing ?? {})) if (desired[key] === undefined) patch[key] = null;
  return Object.keys(patch).length === 0 ? undefined : patch;
}

/** The API server writes quantities in a form of its own: `4000m` comes back as `4`. */
function sameQuantity(a: string | undefined, b: string): boolean {
  return a === b || (isQuantity(a) && isQuantity(b) && parseQuantity(a) === parseQuantity(b));
}

function conditionsPatch(
  existing: readonly NodeCondition[],
  input: NodeStatusInput,
  timed: Timed,
): unknown[] {
  const desired = nodeConditions({ allocatable: input.resources, networkReady: input.networkReady });
  const changed = desired.filter((condition) => {
    const before = existing.find(({ type }) => type === condition.type);
    return before?.status !== condition.status || before.reason !== condition.reason;
  });
  const dropped = existing.filter(
    ({ type }) => OWN_CONDITIONS.includes(type) && !desired.some((condition) => condition.type === type),
  );
  const old = existing.some(
    ({ type, lastHeartbeatTime }) =>
      type === "Ready" &&
      Date.parse(timed.now) - Date.parse(lastHeartbeatTime ?? timed.now) >= timed.heartbeatMs,
  );
  if (changed.length === 0 && dropped.length === 0 && !old) return [];
  return [
    ...desired.map((condition) => {
      const before = existing.find(({ type }) => type === condition.type);
      const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : timed.now;
      return {
        ...condition,
        lastHeartbeatTime: timed.now,
        lastTransitionTime: lastTransitionTime ?? timed.now,
      };
    }),
    ...dropped.map(({ type }) => ({ type, $patch: "delete" })),
  ];
}

/** What the conditions of a virtual node follow from. */
export interface NodeFacts {
  allocatable: Record<string, string>;
  /** Whether the clusters are connected; absent where pods need no network between the clusters, or where it is not checked. */
  networkReady?: boolean;
}

interface Wording {
  reason: string;
  message: string;
}

const READY: Record<"True" | "False", Wording> = {
  True: { reason: "KubeletReady", message: "The Liqo Virtual Kubelet is posting ready status" },
  False: { reason: "KubeletNotReady", message: "The Liqo Virtual Kubelet is currently not ready" },
};
const ENOUGH = "The remote cluster is advertising sufficient resources";
const NOT_ENOUGH = "The remote cluster is advertising no/insufficient resources";
const PRESSURES: Record<string, Record<"True" | "False", Wording>> = {
  MemoryPressure: {
    True: { reason: "RemoteClusterHasMemoryPressure", message: NOT_ENOUGH },
    False: { reason: "RemoteClusterHasSufficientMemory", message: ENOUGH },
  },
  DiskPressure: {
    True: { reason: "RemoteClusterHasDiskPressure", message: NOT_ENOUGH },
    False: { reason: "RemoteClusterHasNoDiskPressure", message: ENOUGH },
  },
  PIDPressure: {
    True: { reason: "RemoteClusterHasPIDPressure", message: NOT_ENOUGH },
    False: { reason: "RemoteClusterHasNoPIDPressure", message: ENOUGH },
  },
};
const NETWORK: Record<"True" | "False", Wording> = {
  True: { reason: "LiqoNetworkingDown", message: "The Liqo cluster interconnection is down" },
  False: { reason: "LiqoNetworkingUp", message: "The Liqo cluster interconnection is established" },
};

/** The conditions of a virtual node (offloading reference 7.3), without times. */
export function nodeConditions(facts: NodeFacts): NodeCondition[] {
  const resourcesReady = isPositive(facts.allocatable.cpu) && isPositive(facts.allocatable.memory);
  const conditions = [condition("Ready", resourcesReady && (facts.networkReady ?? true), READY)];
  for (const [type, wording] of Object.entries(PRESSURES))
    conditions.push(condition(type, !resourcesReady, wording));
  if (facts.networkReady !== undefined) {
    conditions.push(condition("NetworkUnavailable", !facts.networkReady, NETWORK));
  }
  return conditions;
}

function condition(type: string, holds: boolean, wording: Record<"True" | "False", Wording>): NodeCondition {
  const status = holds ? "True" : "False";
  return { type, status, ...wording[status] };
}

function isPositive(quantity: string | undefined): boolean {
  return quantity !== undefined && isQuantity(quantity) && parseQuantity(quantity) > 0n;
}

/** Types that are ours; others (of a problem detector, say) are left alone. */
const OWN_CONDITIONS = ["Ready", ...Object.keys(PRESSURES), "NetworkUnavailable"];
