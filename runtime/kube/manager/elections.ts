import { InformerSet } from "../cache/informer-set";
import type { KubeClient } from "../client/client";
import type { Term } from "../client/client-options";
import { LeaderElection, type LeaderElectionOptions } from "../election/leader-election";
import { type RuntimeContext, summarize } from "./context";

/** A candidate and the lease that it stands for. It uses the client, the clock and the log of the process. */
interface Candidacy extends Omit<LeaderElectionOptions, "client" | "clock" | "log"> {
  /**
   * Aborted when the candidate withdraws. Default: it stands until the process ends, even where the context of a term was used. A candidate that is to
   * withdraw with the term needs the signal of the term here.
   */
  until?: AbortSignal;
}

/** Readiness check of a leader's term. */
const CACHES_CHECK = "caches of the leader";

export interface Candidate {
  /** Judged by the time since the last renewal, so that it is right even right after the process was held up. */
  readonly isLeader: boolean;
  /** Who holds the lease, as far as we know; undefined: nobody. */
  readonly holder: string | undefined;
  /** Resolves when the candidate stands no longer and has given the lease back. */
  readonly ended: Promise<void>;
}

/**
 * The elections that a process stands for, over a connection of their own: a renewal never waits behind other requests. The process ends when it has
 * given its leases back.
 */
export class Elections {
  private leaseClient: KubeClient | undefined;
  /** How often {@link lead} was called. */
  private leaders = 0;

  /** @param exit ends the process where a term cannot begin, so that another replica may lead */
  constructor(
    private readonly context: Omit<RuntimeContext, "elections">,
    private readonly exit: (status: number) => void = (status) => process.exit(status),
  ) {}

  /** For leases, and for the few other requests that must not wait. */
  get client(): KubeClient {
    return (this.leaseClient ??= this.context.client.sibling());
  }

  stand({ until, ...candidacy }: Candidacy): Candidate {
    const { clock, log, signal, shutdown } = this.context;
    const election = new LeaderElection({ ...candidacy, client: this.client, clock, log });
    const ended = election.run(until === undefined ? signal : AbortSignal.any([until, signal]));
    shutdown.add(ended);
    void ended.finally(() => shutdown.delete(ended));
    return {
      get isLeader() {
        return election.isLeader;
      },
      get holder() {
        return election.holder;
      },
      ended,
    };
  }

  /**
   * Runs what only one replica may run at a time. A term owns its caches with their indexes and handlers, its requests and its signal: all of them end
   * with it, and the next term starts clean. A term ends at the renew deadline, so no request outlasts the lease.
   *
   * @param start as a component's; the context is the term's
   */
  lead(candidacy: Omit<Candidacy, "onElected">, start: (term: RuntimeContext) => Promise<void>): Candidate {
    const { namespace, name } = candidacy.lease;
    this.leaders += 1;
    // Checks with the same name would replace each other.
    const check = this.leaders === 1 ? CACHES_CHECK : `${CACHES_CHECK} (${namespace}/${name})`;
    return this.stand({
      ...candidacy,
      onElected: (term) => {
        start(this.contextOf(term, check)).catch((error: unknown) => {
          // The next leader does what a term that has ended could not finish.
          if (!term.current) return;
          this.context.log.error("controllers not started", { error });
          this.exit(1);
        });
      },
    });
  }

  /** Ends the connection of the leases, and all requests on it. */
  close(): void {
    this.leaseClient?.close();
  }

  private contextOf(term: Term, check: string): RuntimeContext {
    const { context } = this;
    const { clock, log, signal, metrics, health } = context;
    const client = context.client.during(term);
    const informers = new InformerSet(client, { log, clock, metrics });
    const withdraw = health.addReadiness(check, () => summarize(informers.problems()));
    term.signal.addEventListener(
      "abort",
      () => {
        withdraw();
        void informers.stop();
      },
      { once: true },
    );
    return {
      ...context,
      elections: this,
      client,
      informers,
      signal: AbortSignal.any([signal, term.signal]),
    };
  }
}
