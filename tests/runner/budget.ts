/** Runs jobs side by side within a budget of processors and memory. */

/** What a job takes of the machine while it runs. */
export interface Need {
  /** Processors that it keeps busy on average. */
  cores: number;
  memoryMb: number;
}

export interface Job {
  name: string;
  need: Need;
  run: () => Promise<void>;
}

export interface Budget {
  cores: number;
  memoryMb: number;
}

/**
 * The jobs that may start now, by their place. A job that does not fit lets smaller ones pass only while a running job of its own size keeps it
 * waiting; otherwise its room is kept, or the small ones would hold it up to the end. A job larger than the whole budget runs by itself.
 */
export function startable(waiting: readonly Need[], running: readonly Need[], budget: Budget): number[] {
  const started: number[] = [];
  const taken = [...running];
  for (const [index, need] of waiting.entries()) {
    const beside = (others: readonly Need[]) => others.length === 0 || fits(need, others, budget);
    if (beside(taken)) started.push(index);
    else if (running.some((one) => !beside([one]))) continue;
    taken.push(need);
  }
  return started;
}

function fits(need: Need, taken: readonly Need[], budget: Budget): boolean {
  const sum = (of: (each: Need) => number) => taken.reduce((total, each) => total + of(each), of(need));
  // Decimal fractions do not add up exactly.
  return (
    sum(({ cores }) => cores) <= budget.cores + 1e-6 && sum(({ memoryMb }) => memoryMb) <= budget.memoryMb
  );
}

/** Starts jobs in the order in which they were added, as far as they fit. */
export class JobPool {
  private readonly waiting: Job[] = [];
  private readonly running = new Map<Job, Promise<void>>();

  constructor(private readonly budget: Budget) {}

  add(jobs: readonly Job[]): void {
    this.waiting.push(...jobs);
    this.startNext();
  }

  /** Returns when every job added so far, and those that were added meanwhile, ended. @throws what a job threw */
  async whenIdle(): Promise<void> {
    while (this.running.size > 0) await Promise.race(this.running.values());
  }

  private startNext(): void {
    const needs = (jobs: Iterable<Job>) => [...jobs].map(({ need }) => need);
    const chosen = startable(needs(this.waiting), needs(this.running.keys()), this.budget);
    const jobs = chosen.flatMap((index) => this.waiting[index] ?? []);
    for (const job of jobs) {
      this.waiting.splice(this.waiting.indexOf(job), 1);
      const end = job.run().finally(() => {
        this.running.delete(job);
        this.startNext();
      });
      this.running.set(job, end);
    }
  }
}
