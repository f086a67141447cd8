import { type EndedPod, isBeingRemoved, podOutcome } from "./pod-outcome";

export type ShadowPodPhase = "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";

export function isTerminal(phase: string | undefined): phase is "Succeeded" | "Failed" {
  return phase === "Succeeded" || phase === "Failed";
}

/**
 * The phase to write into a ShadowPod's status; undefined when what stands there will do. A terminal phase stays for ever. Only what
 * somebody reads is written: that the pod runs, and how it ended; between `Unknown` and `Pending` nobody makes a difference.
 *
 * @see offloading reference 12.1
 */
export function phaseToReport(current: string | undefined, pod: EndedPod): ShadowPodPhase | undefined {
  if (isTerminal(current)) return undefined;
  const outcome = podOutcome(pod);
  if (outcome !== undefined) return outcome;
  const running = pod.status?.phase === "Running" && !isBeingRemoved(pod);
  return running && current !== "Running" ? "Running" : undefined;
}
