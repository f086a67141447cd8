export type VirtualNodeConditionType = "VirtualKubelet" | "Node";
export type VirtualNodeConditionStatus = "None" | "Creating" | "Running" | "Draining" | "Deleting";

export interface VirtualNodeCondition {
  type: VirtualNodeConditionType;
  status: VirtualNodeConditionStatus;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

export type DesiredVirtualNodeConditions = Partial<
  Record<VirtualNodeConditionType, VirtualNodeConditionStatus>
>;

/** Steps that say nothing new: what runs is not being created, what does not exist cannot be drained. */
const IGNORED: ReadonlySet<string> = new Set([
  "Running→Creating",
  "None→Draining",
  "None→Deleting",
  "Deleting→Draining",
]);

/**
 * The conditions with what was found: one entry a type, in the order VirtualKubelet, Node; the same list when nothing changes.
 * Entries that upstream doubled are read as their first.
 *
 * @see offloading reference 5.4
 */
export function withConditions(
  previous: readonly VirtualNodeCondition[] | undefined,
  desiredConditions: DesiredVirtualNodeConditions,
  now: string,
): VirtualNodeCondition[] {
  const types: VirtualNodeConditionType[] = ["VirtualKubelet", "Node"];
  return types.flatMap((type) => {
    const before = previous?.find((condition) => condition.type === type);
    const status = desiredConditions[type];
    if (status === undefined || !isTransition(before?.status, status))
      return before === undefined ? [] : [before];
    return [{ type, status, lastTransitionTime: now }];
  });
}

function isTransition(from: VirtualNodeConditionStatus | undefined, to: VirtualNodeConditionStatus): boolean {
  return from === undefined || (from !== to && !IGNORED.has(`${from}→${to}`));
}

/** The status of a type; a condition that is missing reads as `None`. */
export function virtualNodeCondition(
  conditions: readonly VirtualNodeCondition[] | undefined,
  type: VirtualNodeConditionType,
): VirtualNodeConditionStatus {
  return conditions?.find((condition) => condition.type === type)?.status ?? "None";
}
