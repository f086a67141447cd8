import { during } from "../failure";
import type { Terminal } from "./terminal";

/** Which cluster a line is about. Commands that know one cluster have none; `global` is both. */
export type Scope = "local" | "remote" | "global" | undefined;

/** After this time, what is being waited for is told, and again whenever it changes. */
const PATIENCE_MS = 2_000;

/** The lines that say what a command does, on the error stream: standard output is for machines. */
export class Progress {
  constructor(
    private readonly terminal: Terminal,
    /** Every line with the time since the start, and what is being waited for at once. */
    private readonly verbose = false,
  ) {}

  info(scope: Scope, text: string): void {
    this.line("INFO", scope, text);
  }

  warn(scope: Scope, text: string): void {
    this.line("WARN", scope, text);
  }

  error(scope: Scope, text: string): void {
    this.line("ERRO", scope, text);
  }

  /**
   * Does one step, and says when it is done and how long it took.
   *
   * @param what in words that stand before a failure: `sign the nonce`
   * @param done what is true then; made from what the step returns
   */
  async step<T>(
    scope: Scope,
    what: string,
    work: (waiting: (seen: string) => void) => Promise<T>,
    done: (value: T) => string,
  ): Promise<T> {
    const start = this.terminal.now();
    let told: string | undefined;
    const waiting = (seen: string) => {
      const elapsed = this.terminal.now() - start;
      if (seen === told || (elapsed < PATIENCE_MS && !this.verbose)) return;
      told = seen;
      this.line("INFO", scope, `${what}: ${seen} (${seconds(elapsed)})`);
    };
    try {
      const value = await work(waiting);
      this.line("INFO", scope, `${done(value)} (${seconds(this.terminal.now() - start)})`);
      return value;
    } catch (error) {
      throw during(`${scope === undefined ? "" : `(${scope}) `}${what}`, error);
    }
  }

  private line(level: "INFO" | "WARN" | "ERRO", scope: Scope, text: string): void {
    this.terminal.err(`${level} ${scope === undefined ? "" : ` (${scope})`} ${text}\n`.replace("  ", " "));
  }
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
