import type { ContainerImage, NodeCondition, NodeStatus } from "kubernetes-types/core/v1";
import { isDeepStrictEqual } from "node:util";

import type { Node } from "../../api/kubernetes";
import { isQuantity, parseQuantity } from "../../api/quantity";
import { nodeConditions, OWN_CONDITIONS } from "./node-conditions";

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
