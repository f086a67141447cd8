/** Says what is wrong in one sentence; undefined: nothing. Must answer soon. */
export type HealthCheck = () => string | undefined | Promise<string | undefined>;

export interface HealthReport {
  healthy: boolean;
  /** One line a check, in the order they were added. */
  lines: string[];
}

const CHECK_DEADLINE_MS = 5_000;

/** Whether the process is alive (else it is restarted) and ready (else it gets no traffic), as the sum of its parts' checks. */
export class Health {
  private readonly live = new Map<string, HealthCheck>();
  private readonly ready = new Map<string, HealthCheck>();

  /** For what only a restart repairs. Returns the way to take the check back. */
  addLiveness(name: string, check: HealthCheck): () => void {
    return add(this.live, name, check);
  }

  /** For what passes by itself: caches that have not synced, a peer that is away. */
  addReadiness(name: string, check: HealthCheck): () => void {
    return add(this.ready, name, check);
  }

  liveness(): Promise<HealthReport> {
    return report(this.live);
  }

  readiness(): Promise<HealthReport> {
    return report(this.ready);
  }
}

function add(checks: Map<string, HealthCheck>, name: string, check: HealthCheck): () => void {
  checks.set(name, check);
  return () => {
    if (checks.get(name) === check) checks.delete(name);
  };
}

async function report(checks: ReadonlyMap<string, HealthCheck>): Promise<HealthReport> {
  const results = await Promise.all(
    [...checks].map(async ([name, check]) => ({ name, problem: await outcomeOf(check) })),
  );
  return {
    healthy: results.every(({ problem }) => problem === undefined),
    lines: results.map(({ name, problem }) =>
      problem === undefined ? `[+] ${name}` : `[-] ${name}: ${problem}`,
    ),
  };
}

async function outcomeOf(check: HealthCheck): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`no answer in ${CHECK_DEADLINE_MS / 1000} s`), CHECK_DEADLINE_MS);
  });
  try {
    return await Promise.race([check(), late]);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    clearTimeout(timer);
  }
}
