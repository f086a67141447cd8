import { createInterface } from "node:readline/promises";

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
