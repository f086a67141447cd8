import { ConditionReason } from "../api";
import type { DesiredCondition } from "./conditions";

/** What the checker knows of a peer's API server: nothing yet, or the result of the latest check. */
export type ApiServerHealth = "unknown" | "ready" | { error: string };

/**
 * The condition `APIServerStatus` (control plane reference 12.4).
 *
 * @param checking whether there is an API server to check; without one the condition goes away.
 * @param health the checker's latest result, or "disabled" when checks are switched off.
 * @returns the desired condition, undefined for no condition, or "unchanged" while no result is there.
 */
export function apiServerCondition(
  checking: boolean,
  health: ApiServerHealth | "disabled",
): DesiredCondition | undefined | "unchanged" {
  if (!checking) return undefined;
  if (health === "unknown") return "unchanged";
  if (health === "ready" || health === "disabled") {
    return {
      type: "APIServerStatus",
      status: "Established",
      reason: ConditionReason.apiServerReady,
      message:
        health === "ready"
          ? "The API server of the peer is ready"
          : "The API server of the peer is taken as ready: checks are switched off",
    };
  }
  return {
    type: "APIServerStatus",
    status: "Error",
    reason: ConditionReason.apiServerNotReady,
    message: `The API server of the peer does not answer: ${health.error}`,
  };
}
