/** An entry of a list of conditions that holds at most one entry a type. */
export interface ConditionLike {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

/** A condition as it follows from the facts, before it has a transition time. */
export type Finding<C extends ConditionLike> = Omit<C, "lastTransitionTime">;

/**
 * The list that says what the findings say: entries of the types in `owned` are replaced, kept or dropped, the others stay. The
 * transition time moves when status, reason or message changes; existing entries keep their place, so that equal findings give an equal list.
 *
 * @param now RFC 3339 time.
 */
export function mergeConditions<C extends ConditionLike>(
  previous: readonly C[] | undefined,
  owned: readonly C["type"][],
  findings: readonly Finding<C>[],
  now: string,
): (C | (Finding<C> & { lastTransitionTime: string }))[] {
  const wanted = new Map(findings.map((finding) => [finding.type, finding]));
  const merged: (C | (Finding<C> & { lastTransitionTime: string }))[] = [];
  for (const condition of previous ?? []) {
    if (!owned.includes(condition.type)) {
      merged.push(condition);
      continue;
    }
    const finding = wanted.get(condition.type);
    if (finding === undefined) continue;
    wanted.delete(condition.type);
    merged.push(sameFinding(condition, finding) ? condition : { ...finding, lastTransitionTime: now });
  }
  for (const finding of wanted.values()) merged.push({ ...finding, lastTransitionTime: now });
  return merged;
}

function sameFinding(condition: ConditionLike, finding: Omit<ConditionLike, "lastTransitionTime">): boolean {
  return (
    condition.status === finding.status &&
    (condition.reason ?? "") === (finding.reason ?? "") &&
    (condition.message ?? "") === (finding.message ?? "")
  );
}

/** The status of the condition of a type; undefined where there is none. */
export function conditionStatus<C extends ConditionLike>(
  conditions: readonly C[] | undefined,
  type: C["type"],
): C["status"] | undefined {
  return conditions?.find((condition) => condition.type === type)?.status;
}
