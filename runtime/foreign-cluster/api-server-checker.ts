import {
  type Certificate,
  CertificateError,
  KubeconfigError as UnreadableIdentity,
  parseCertificate,
  parseKubeconfig,
} from "../identity";
import { type Clock, KubeClient, KubeconfigError, type Logger, PEER_LIMITS, type Timer } from "../kube";
import { ConditionReason } from "../api";
import type { DesiredCondition } from "./conditions";

interface CheckerOptions {
  clock: Clock;
  log: Logger;
  /** Between the checks of one peer, in milliseconds. */
  intervalMs: number;
  /** For one check, in milliseconds. */
  timeoutMs: number;
  /** The health of a peer became another. */
  onChange: (clusterId: string) => void;
}

interface Check {
  /** What the client was made of. */
  identity: string;
  kubeconfig: string;
  client: KubeClient | undefined;
  health: ApiServerHealth;
  timer: Timer | undefined;
  stopped: boolean;
}

/** Asks the API servers of peers whether they are alive, each on a connection and a timer of its own (control plane reference 12.4). */
export class ApiServerChecker {
  private readonly checks = new Map<string, Check>();

  constructor(private readonly options: CheckerOptions) {}

  health(clusterId: string): ApiServerHealth {
    return this.checks.get(clusterId)?.health ?? "unknown";
  }

  /**
   * Checks a peer from now on; begins anew where the kubeconfig is another one.
   *
   * @param identity changes with the credentials; of a token that is refreshed it stays the same
   */
  watch(clusterId: string, identity: string, kubeconfig: string): void {
    const current = this.checks.get(clusterId);
    if (current?.identity === identity) {
      if (current.kubeconfig !== kubeconfig)
        current.client?.replaceCredentials(kubeconfig, { selfContained: true });
      current.kubeconfig = kubeconfig;
      return;
    }
    this.forget(clusterId);
    const check: Check = {
      identity,
      kubeconfig,
      client: undefined,
      health: "unknown",
      timer: undefined,
      stopped: false,
    };
    this.checks.set(clusterId, check);
    try {
      check.client = KubeClient.fromKubeconfig(kubeconfig, {
        selfContained: true,
        source: `kubeconfig of cluster "${clusterId}"`,
        userAgent: "liqo-api-server-checker",
        maxConnections: 1,
        limits: PEER_LIMITS,
      });
    } catch (error) {
      if (!(error instanceof KubeconfigError)) throw error;
      this.conclude(clusterId, check, { error: error.message });
      return;
    }
    void this.check(clusterId, check, check.client);
  }

  forget(clusterId: string): void {
    const check = this.checks.get(clusterId);
    if (check === undefined) return;
    this.checks.delete(clusterId);
    check.stopped = true;
    check.timer?.cancel();
    check.client?.close();
  }

  stop(): void {
    for (const clusterId of [...this.checks.keys()]) this.forget(clusterId);
  }

  private async check(clusterId: string, check: Check, client: KubeClient): Promise<void> {
    const { clock, intervalMs, timeoutMs } = this.options;
    const begin = clock.monotonic();
    const health = await ask(client, timeoutMs, () => credentialsFault(check.kubeconfig, clock));
    if (check.stopped) return;
    this.conclude(clusterId, check, health);
    const next = Math.max(0, intervalMs - (clock.monotonic() - begin));
    check.timer = clock.after(next, () => void this.check(clusterId, check, client));
  }

  private conclude(clusterId: string, check: Check, health: ApiServerHealth): void {
    if (JSON.stringify(check.health) === JSON.stringify(health)) return;
    check.health = health;
    this.options.log.info("health of a peer's API server", { peer: clusterId, health });
    this.options.onChange(clusterId);
  }
}

async function ask(
  client: KubeClient,
  deadlineMs: number,
  describeCredentials: () => string,
): Promise<ApiServerHealth> {
  try {
    const { status } = await client.raw({ path: "/livez", deadlineMs });
    if (status === 401) return { error: `HTTP 401: ${describeCredentials()}` };
    return status === 200 ? "ready" : { error: `HTTP ${status}` };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

/** What may be wrong with credentials that a peer does not take. The same for as long as it is true: it becomes a condition. */
function credentialsFault(kubeconfig: string, clock: Clock): string {
  const refused = "it does not take the credentials of this cluster";
  let validity: Certificate;
  try {
    const { certificate } = parseKubeconfig(kubeconfig);
    if (certificate === undefined) return refused;
    validity = parseCertificate(certificate);
  } catch (error) {
    // Credentials of another making than ours: all that can be said.
    if (error instanceof CertificateError || error instanceof UnreadableIdentity) return refused;
    throw error;
  }
  const { notBefore, notAfter } = validity;
  const [from, to] = [notBefore.toISOString(), notAfter.toISOString()];
  const now = clock.now();
  if (now < notBefore.getTime())
    return `${refused}: their certificate is not valid before ${from}; the clock of its signer is ahead, or this one behind`;
  if (now > notAfter.getTime())
    return `${refused}: their certificate expired at ${to}, or this clock is ahead; the peer renews it when its controllers run`;
  return `${refused}, though their certificate is valid from ${from} to ${to}; where that is so by the peer's clock, too, authenticate again`;
}

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
