import { createInterface } from "node:readline/promises";

import { during } from "./failure";

/** What a command sees of the world around it. */
export interface Terminal {
  /** What machines read: manifests, tables, values. */
  out(text: string): void;
  /** What people read while it works. */
  err(text: string): void;
  environment: Readonly<Record<string, string | undefined>>;
  home: string;
  workingDirectory: string;
  /** Whether somebody can be asked. */
  interactive: boolean;
  ask(question: string, signal: AbortSignal): Promise<string>;
  now(): number;
}

/**
 * Text without what steers a terminal: much of it comes from other clusters, which could otherwise clear the screen, or write over what is true. Line
 * breaks and tabs stay, and what machines read has nothing else.
 */
export function printable(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "\ufffd");
}

export function processTerminal(home: string): Terminal {
  return {
    out: (text) => void process.stdout.write(printable(text)),
    err: (text) => void process.stderr.write(printable(text)),
    environment: process.env,
    home,
    workingDirectory: process.cwd(),
    interactive: process.stdin.isTTY && process.stderr.isTTY,
    ask: async (question, signal) => {
      const lines = createInterface({ input: process.stdin, output: process.stderr });
      try {
        return await lines.question(question, { signal });
      } finally {
        lines.close();
      }
    },
    now: () => performance.now(),
  };
}

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
