import type { ConditionStatus, ConditionType, DesiredCondition, DesiredModule } from "./conditions";

/** A virtual node towards the peer. */
export interface VirtualNodeFacts {
  name: string;
  /** Whether the process that hosts it is ready. */
  hosted: boolean;
  /** `spec.createNode`; true unless it says otherwise. */
  createNode: boolean;
  /** Whether the Node of its name is there and Ready. */
  nodeReady: boolean;
}

export const offloadingConditions: readonly ConditionType[] = [
  "OffloadingVirtualNodeStatus",
  "OffloadingNodeStatus",
];

/** The offloading module: enabled while there is a VirtualNode for the peer (control plane reference 12.2, offloading reference 5.8). */
export function offloadingModule(virtualNodes: readonly VirtualNodeFacts[]): DesiredModule {
  if (virtualNodes.length === 0) return { enabled: false, desiredConditions: [] };
  const expected = virtualNodes.filter(({ createNode }) => createNode);
  return {
    enabled: true,
    desiredConditions: [
      share(
        "OffloadingVirtualNodeStatus",
        "VirtualNodes",
        "virtual nodes",
        virtualNodes.map(({ hosted }) => hosted),
      ),
      share(
        "OffloadingNodeStatus",
        "Nodes",
        "nodes",
        expected.map(({ nodeReady }) => nodeReady),
      ),
    ],
  };
}

function share(
  type: ConditionType,
  prefix: string,
  noun: string,
  ready: readonly boolean[],
): DesiredCondition {
  const count = ready.filter(Boolean).length;
  const [status, suffix, message]: [ConditionStatus, string, string] =
    count === ready.length
      ? ["Ready", "Ready", `All ${noun} are ready`]
      : count === 0
        ? ["NotReady", "NotReady", `All ${noun} are not ready`]
        : ["SomeNotReady", "SomeNotReady", `Some ${noun} are not ready`];
  return { type, status, reason: `${prefix}${suffix}`, message };
}
