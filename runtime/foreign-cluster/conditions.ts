import { Annotation, type ForeignCluster } from "../api";
import { conditionStatus, type DesiredCondition as DesiredConditionOf } from "../kube";

type Status = NonNullable<ForeignCluster["status"]>;

type Condition = NonNullable<Status["conditions"]>[number];
export type ConditionType = Condition["type"];
export type ConditionStatus = Condition["status"];

/** A condition of a ForeignCluster as it follows from the facts. All have a reason and a message. */
export type DesiredCondition = DesiredConditionOf<Condition> & { reason: string; message: string };

/** One module of a ForeignCluster as it follows from the facts. */
export interface DesiredModule {
  enabled: boolean;
  desiredConditions: DesiredCondition[];
}

/** The operator has declared the peer dead, and its API server does not answer (control plane reference 11.6). */
export function isDeclaredDead({ metadata, status }: ForeignCluster): boolean {
  return (
    metadata.annotations?.[Annotation.permanentlyUnreachable] === "true" &&
    conditionStatus(status?.conditions, "APIServerStatus") !== "Established"
  );
}

/** The latest check found that the peer's API server does not answer. */
export function isSilent({ status }: ForeignCluster): boolean {
  return conditionStatus(status?.conditions, "APIServerStatus") === "Error";
}
