import type { CallOptions } from "../kube";
import { Interrupted, TimedOut } from "./failure";
import type { Progress } from "./terminal/progress";
import type { Terminal } from "./terminal/terminal";

/** One run of a command: until when it may go on, and where it says what it does. */
export interface Run {
  terminal: Terminal;
  progress: Progress;
  /** Ends with Ctrl-C and with the time allowed; its reason is the error to show. */
  signal: AbortSignal;
  /** Limits of one request. */
  call: CallOptions;
  /** Added to what is created. */
  metadata: { labels: Record<string, string>; annotations: Record<string, string> };
  /** Do not ask before something is taken away. */
  skipConfirm: boolean;
}

/** Longest time for one answer of an API server. */
const ANSWER_MS = 15_000;

export interface RunOptions extends Pick<Run, "terminal" | "progress" | "metadata" | "skipConfirm"> {
  /** For ever where none is given. */
  timeoutMs?: number;
  /** Ctrl-C. */
  interrupt: AbortSignal;
}

/** Works under a time limit. */
export async function withRun<T>(options: RunOptions, work: (run: Run) => Promise<T>): Promise<T> {
  const { timeoutMs, interrupt, ...rest } = options;
  const ended = new AbortController();
  const interrupted = () => ended.abort(new Interrupted());
  if (interrupt.aborted) interrupted();
  interrupt.addEventListener("abort", interrupted, { once: true });
  const timer =
    timeoutMs === undefined ? undefined : setTimeout(() => ended.abort(new TimedOut(timeoutMs)), timeoutMs);
  try {
    const { signal } = ended;
    return await work({ ...rest, signal, call: { signal, deadlineMs: ANSWER_MS } });
  } finally {
    clearTimeout(timer);
    interrupt.removeEventListener("abort", interrupted);
  }
}
