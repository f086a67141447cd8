import type { Registry } from "prom-client";

import { Label, LabelValue, Pod } from "../api";
import {
  type Candidate,
  type Clock,
  type Elections,
  isNotFound,
  type KubeClient,
  type Logger,
  sleep,
} from "../kube";

/** Which replica books quotas: one at a time, so that no quota is given out twice. */
export interface Leadership {
  /** Resolves with why this replica must not book now; with nothing where it may. Held while a term is about to begin. */
  refusal(): Promise<string | undefined>;
}

/** The leadership of a single replica, which always books. */
export const soleLeader: Leadership = { refusal: () => Promise.resolve(undefined) };

/**
 * How long a new leader holds requests: what its predecessor admitted last is stored and seen by then. API servers wait ten seconds for an
 * answer.
 */
const TAKEOVER_MS = 1_000;

interface ElectedLeadershipOptions {
  client: KubeClient;
  elections: Elections;
  clock: Clock;
  log: Logger;
  metrics: Registry;
  lease: { name: string; namespace: string };
  /** This replica's pod. */
  pod: string;
  /** How long others wait for a silent leader. Default: 15,000 ms. */
  leaseDurationMs?: number;
}

/** Leads while it holds the lease. The label that the leader's Service selects follows a moment later, so only the lease counts. */
export class ElectedLeadership implements Leadership {
  private election: Candidate | undefined;
  private readonly mark: LeaderMark;
  private begins = Infinity;

  constructor(private readonly options: ElectedLeadershipOptions) {
    this.mark = new LeaderMark(options);
  }

  /** Stands for election until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, elections, metrics, lease, pod, leaseDurationMs = 15_000 } = this.options;
    // A process that died in this pod may have left the label.
    this.mark.set(false);
    void this.mark.run(signal);
    this.election = elections.stand({
      metrics,
      lease,
      identity: pod,
      leaseDurationMs,
      retryMs: leaseDurationMs / 8,
      // A leader may miss one renewal. Renewing more often would only cost requests: most webhooks run as one replica.
      renewMs: leaseDurationMs / 3,
      onElected: () => {
        this.begins = clock.monotonic() + TAKEOVER_MS;
        this.mark.set(true);
      },
      onLost: () => this.mark.set(false),
      until: signal,
    });
    await this.election.ended;
  }

  async refusal(): Promise<string | undefined> {
    const { clock } = this.options;
    const { election } = this;
    if (election?.isLeader === true) await sleep(clock, Math.max(0, this.begins - clock.monotonic()));
    if (election?.isLeader === true) return undefined;
    const holder = election?.holder;
    return `this replica of the webhook does not lead (${holder === undefined ? "nobody does" : `${holder} does`}); try again`;
  }
}

const RETRY_MS = 1_000;

/** The label by which the leader's Service finds its pod: written until it is there. */
class LeaderMark {
  private wanted: boolean | undefined;
  private written: boolean | undefined;
  private wake: () => void = () => undefined;

  constructor(
    private readonly options: Pick<ElectedLeadershipOptions, "client" | "clock" | "log" | "lease" | "pod">,
  ) {}

  set(leads: boolean): void {
    this.wanted = leads;
    this.wake();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, pod } = this.options;
    while (!signal.aborted) {
      const { wanted } = this;
      if (wanted === this.written) {
        await this.changed(signal);
        continue;
      }
      try {
        await this.write(wanted === true);
        this.written = wanted;
      } catch (error) {
        // Outside a pod there is nothing to be found by.
        if (isNotFound(error)) this.written = wanted;
        else {
          log.warn("the pod's mark of the leader is not written", { pod, error });
          await sleep(clock, RETRY_MS, signal);
        }
      }
    }
  }

  private async write(leads: boolean): Promise<void> {
    const { client, pod, lease } = this.options;
    const labels = { [Label.leader]: leads ? LabelValue.true : null };
    await client.patch(
      Pod,
      { name: pod, namespace: lease.namespace },
      { metadata: { labels } },
      { type: "merge" },
    );
  }

  private changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        signal.removeEventListener("abort", done);
        resolve();
      };
      this.wake = done;
      signal.addEventListener("abort", done, { once: true });
    });
  }
}
