import { Gauge, type Registry } from "prom-client";

import { Lease } from "../../api/kubernetes";
import type { ObjectRef } from "../../api/meta";
import { isConflict } from "../client/api-error";
import type { KubeClient } from "../client/client";
import type { Term } from "../client/client-options";
import { type Clock, microTimestamp, sleep, systemClock, type Timer } from "../clock";
import { type Logger, silentLogger } from "../log";

export interface LeaderElectionOptions {
  /** Best one of its own (`sibling`), so that renewals do not wait behind other requests. */
  client: KubeClient;
  lease: Required<ObjectRef>;
  /** Unique among the candidates, such as the pod's name. */
  identity: string;
  /** Called with each term that begins. Where it throws, the term ends and the lease is given back. */
  onElected: (term: Term) => void;
  /** Called when a term ends without our will. Whoever cannot stop at once should end the process here. */
  onLost?: () => void;
  /** How long others wait for a silent holder. Default: 15,000 ms. */
  leaseDurationMs?: number;
  /** How long we go on without a successful renewal. Must be shorter than the duration. Default: two thirds of it. */
  renewDeadlineMs?: number;
  /** Between attempts to acquire, and to renew after one that failed. Default: 2,000 ms. */
  retryMs?: number;
  /** Between renewals that succeed. Leave time for retries before the deadline. Default: `retryMs`. */
  renewMs?: number;
  labels?: Record<string, string>;
  /** Registry of the metric that says whether this candidate leads. Default: there is no metric. */
  metrics?: Registry;
  clock?: Clock;
  log?: Logger;
}

/**
 * Elects at most one leader among the candidates of a lease.
 *
 * It trusts no wall clock. A candidate measures on its own monotonic clock for how long the lease has not changed, and the leader how long ago it renewed.
 * The leader stops at the renew deadline, before the lease expires for the others.
 */
export class LeaderElection {
  private readonly options: Required<Omit<LeaderElectionOptions, "onLost" | "labels" | "metrics">> &
    LeaderElectionOptions;
  private lease: Lease | undefined;
  /** What others' lease looked like last, and since when on our clock. */
  private seen: { version: string; at: number } | undefined;
  private renewedAt: number | undefined;
  private term: AbortController | undefined;
  /** Ends the term at the deadline, whatever an attempt to renew is waiting for. */
  private expiry: Timer | undefined;

  constructor(options: LeaderElectionOptions) {
    const leaseDurationMs = options.leaseDurationMs ?? 15_000;
    this.options = {
      leaseDurationMs,
      renewDeadlineMs: (leaseDurationMs * 2) / 3,
      retryMs: 2_000,
      renewMs: options.retryMs ?? 2_000,
      clock: systemClock,
      log: silentLogger,
      ...options,
    };
    if (
      this.options.renewDeadlineMs >= leaseDurationMs ||
      this.options.retryMs >= this.options.renewDeadlineMs ||
      this.options.renewMs >= this.options.renewDeadlineMs
    ) {
      throw new Error(
        `lease ${options.lease.namespace}/${options.lease.name}: retryMs, renewMs < renewDeadlineMs < leaseDurationMs does not hold ` +
          `(${this.options.retryMs}, ${this.options.renewMs}, ${this.options.renewDeadlineMs}, ${leaseDurationMs})`,
      );
    }
    this.tellStatus(0);
  }

  /** Judged by the time since the last renewal, so that it is right even right after the process was held up. */
  get isLeader(): boolean {
    return this.term !== undefined && !this.overdue();
  }

  /** Who holds the lease, as far as we know; undefined: nobody. */
  get holder(): string | undefined {
    const identity = this.lease?.spec?.holderIdentity;
    return identity == null || identity === "" ? undefined : identity;
  }

  /** Runs for election until the signal is aborted, then releases the lease, so that the next leader need not wait. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, retryMs, renewMs } = this.options;
    while (!signal.aborted) {
      const begin = clock.monotonic();
      const held = await this.attempt(begin);
      if (held) await this.renewed(begin);
      await sleep(clock, held ? renewMs : retryMs * (1 + 0.2 * Math.random()), signal);
    }
    await this.release();
  }

  private overdue(): boolean {
    const { clock, renewDeadlineMs } = this.options;
    return this.renewedAt === undefined || clock.monotonic() - this.renewedAt >= renewDeadlineMs;
  }

  private async renewed(begin: number): Promise<void> {
    const { clock, renewDeadlineMs, log, onElected } = this.options;
    // Counted from before the request: the server may have taken it at any time since.
    this.renewedAt = begin;
    if (this.overdue()) return this.lose();
    this.expiry?.cancel();
    this.expiry = clock.after(begin + renewDeadlineMs - clock.monotonic(), () => this.lose());
    if (this.term !== undefined) return;
    this.term = new AbortController();
    this.tellStatus(1);
    log.info("elected leader", this.fields());
    try {
      onElected(this.termOf(this.term));
    } catch (error) {
      log.error("the term of the leader did not begin", { ...this.fields(), error });
      await this.release();
    }
  }

  private termOf(begun: AbortController): Term {
    const isCurrent = () => this.term === begun && !this.overdue();
    return {
      signal: begun.signal,
      get current() {
        return isCurrent();
      },
    };
  }

  private lose(): void {
    const { term } = this;
    this.expiry?.cancel();
    this.renewedAt = undefined;
    if (term === undefined) return;
    this.term = undefined;
    this.tellStatus(0);
    this.options.log.warn("no longer leader", { ...this.fields(), holder: this.holder });
    term.abort();
    this.options.onLost?.();
  }

  /** One look at the lease and, where it is ours or free, one write. */
  private async attempt(now: number): Promise<boolean> {
    const { client, lease, log, renewDeadlineMs } = this.options;
    const call = { deadlineMs: Math.max(1_000, renewDeadlineMs / 2) };
    try {
      if (this.term !== undefined && this.lease !== undefined) {
        // The version of our last write: anybody else's write in between makes it a conflict.
        this.lease = await client.replace(Lease, this.claim(this.lease), call);
        return true;
      }
      const current = await client.get(Lease, lease, call);
      if (current === undefined) {
        this.lease = await client.create(Lease, this.claim(undefined), call);
        return true;
      }
      this.lease = current;
      if (!this.mayTake(current, now)) return false;
      this.lease = await client.replace(Lease, this.claim(current), call);
      return true;
    } catch (error) {
      if (!isConflict(error)) log.warn("lease not renewed", { ...this.fields(), error });
      else if (this.term !== undefined) await this.lookAgain(call);
      return false;
    }
  }

  /** Our lease was written by somebody else: theirs now, or ours with other labels. */
  private async lookAgain(call: { deadlineMs: number }): Promise<void> {
    const { client, lease, identity, log } = this.options;
    try {
      this.lease = await client.get(Lease, lease, call);
      if (this.lease !== undefined && this.holder !== identity) this.lose();
    } catch (error) {
      log.warn("lease not renewed", { ...this.fields(), error });
    }
  }

  private mayTake(current: Lease, now: number): boolean {
    if (this.holder === undefined || this.holder === this.options.identity) return true;
    const version = current.metadata.resourceVersion ?? "";
    if (this.seen?.version !== version) {
      this.seen = { version, at: now };
      return false;
    }
    const durationMs = (current.spec?.leaseDurationSeconds ?? this.options.leaseDurationMs / 1000) * 1000;
    return now - this.seen.at >= durationMs;
  }

  private claim(current: Lease | undefined): Lease {
    const { identity, leaseDurationMs, clock, lease, labels } = this.options;
    const now = microTimestamp(clock);
    const ours = current?.spec?.holderIdentity === identity;
    return {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: current?.metadata ?? { ...lease, labels },
      spec: {
        ...current?.spec,
        holderIdentity: identity,
        leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000),
        acquireTime: ours ? current.spec?.acquireTime : now,
        renewTime: now,
        leaseTransitions: (current?.spec?.leaseTransitions ?? -1) + (ours ? 0 : 1),
      },
    };
  }

  private tellStatus(status: 0 | 1): void {
    const { metrics, lease } = this.options;
    if (metrics !== undefined) masterStatus(metrics).set({ name: lease.name }, status);
  }

  private async release(): Promise<void> {
    const { term, lease } = this;
    this.expiry?.cancel();
    this.tellStatus(0);
    this.term = undefined;
    this.renewedAt = undefined;
    term?.abort();
    if (term === undefined || lease === undefined) return;
    const { client, clock, log } = this.options;
    try {
      const spec = {
        ...lease.spec,
        holderIdentity: "",
        leaseDurationSeconds: 1,
        renewTime: microTimestamp(clock),
      };
      this.lease = await client.replace(Lease, { ...lease, spec }, { deadlineMs: 3_000 });
    } catch (error) {
      log.debug("lease not given back", { ...this.fields(), error });
    }
  }

  private fields(): Record<string, unknown> {
    const { lease, identity } = this.options;
    return { lease: `${lease.namespace}/${lease.name}`, identity };
  }
}

function masterStatus(metrics: Registry): Gauge {
  const name = "leader_election_master_status";
  const known = metrics.getSingleMetric(name);
  if (known instanceof Gauge) return known;
  return new Gauge({
    name,
    help: "1 where this process holds the lease of that name, 0 where it stands by",
    labelNames: ["name"],
    registers: [metrics],
  });
}
