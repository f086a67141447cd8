import type { ForeignCluster } from "../api";
import type { DesiredCondition as DesiredConditionOf } from "../kube";

type Status = NonNullable<ForeignCluster["status"]>;

type Condition = NonNullable<Status["conditions"]>[number];
export type ConditionType = Condition["type"];
export type ConditionStatus = Condition["status"];

/** A condition of a ForeignCluster as it follows from the facts. All have a reason and a message. */
export type DesiredCondition = DesiredConditionOf<Condition> & { reason: string; message: string };
