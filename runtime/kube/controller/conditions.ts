/** An entry of a list of conditions that holds at most one entry a type. */
export interface ConditionLike {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

/** A condition as it follows from the facts, before it has a transition time. */
export type DesiredCondition<C extends ConditionLike> = Omit<C, "lastTransitionTime">;

/**
 * The list that says what is desired: entries of the types in `owned` are replaced, kept or dropped, the others stay. The
 * transition time moves when status, reason or message changes; existing entries keep their place, so that the same desired conditions give an equal list.
 *
 * @param now RFC 3339 time.
 */
export function mergeConditions<C extends ConditionLike>(
  previous: readonly C[] | undefined,
  owned: readonly C["type"][],
  desiredConditions: readonly DesiredCondition<C>[],
  now: string,
): (C | (DesiredCondition<C> & { lastTransitionTime: string }))[] {
  const wanted = new Map(
    desiredConditions.map((desiredCondition) => [desiredCondition.type, desiredCondition]),
  );
  const merged: (C | (DesiredCondition<C> & { lastTransitionTime: string }))[] = [];
  for (const condition of previous ?? []) {
    if (!owned.includes(condition.type)) {
      merged.push(condition);
      continue;
    }
    const desiredCondition = wanted.get(condition.type);
    if (desiredCondition === undefined) continue;
    wanted.delete(condition.type);
    merged.push(
      sameCondition(condition, desiredCondition)
        ? condition
        : { ...desiredCondition, lastTransitionTime: now },
    );
  }
  for (const desiredCondition of wanted.values())
    merged.push({ ...desiredCondition, lastTransitionTime: now });
  return merged;
}

function sameCondition(
  condition: ConditionLike,
  desiredCondition: Omit<ConditionLike, "lastTransitionTime">,
): boolean {
  return (
    condition.status === desiredCondition.status &&
    (condition.reason ?? "") === (desiredCondition.reason ?? "") &&
    (condition.message ?? "") === (desiredCondition.message ?? "")
  );
}

/** The status of the condition of a type; undefined where there is none. */
export function conditionStatus<C extends ConditionLike>(
  conditions: readonly C[] | undefined,
  type: C["type"],
): C["status"] | undefined {
  return conditions?.find((condition) => condition.type === type)?.status;
}
