import { Annotation, type ForeignCluster } from "../api";
import { conditionStatus } from "../kube";

/** Declared dead by the operator, and not answering (control plane reference 11.6). */
export function isDeclaredDead({ metadata, status }: ForeignCluster): boolean {
  return (
    metadata.annotations?.[Annotation.permanentlyUnreachable] === "true" &&
    conditionStatus(status?.conditions, "APIServerStatus") !== "Established"
  );
}

/** Known not to answer. */
export function isSilent({ status }: ForeignCluster): boolean {
  return conditionStatus(status?.conditions, "APIServerStatus") === "Error";
}
