import { spawn } from "node:child_process";

/** What a program of the system said. */
export interface CommandResult {
  status: number;
  stdout: string;
  stderr: string;
}

interface CommandOptions {
  /** Given on standard input. */
  input?: string;
  /** A program that takes longer is killed. Default: 30 s. */
  timeoutMs?: number;
  /** Variables beside our own. */
  environment?: Readonly<Record<string, string>>;
}

/** A program of the system that is missing, or that failed. What it was given on standard input is not told: it may be a key. */
export class CommandError extends Error {
  override readonly name = "CommandError";

  constructor(
    readonly command: string,
    readonly result: CommandResult,
    options?: ErrorOptions,
  ) {
    const said = result.stderr.trim().split("\n").slice(0, 5).join("; ");
    super(`${command} failed with status ${result.status}${said === "" ? "" : `: ${said}`}`, options);
  }
}

/** Runs a program to its end, whatever that is. @throws CommandError where it cannot be started */
export async function runCommand(
  program: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const { input, timeoutMs = 30_000, environment } = options;
  return await new Promise((resolve, reject) => {
    // nft and wg open /dev/stdin by its path, which they cannot where it is a socket, as Node's pipes are; and a file would leave keys somewhere.
    const [file, words]: [string, readonly string[]] =
      input === undefined ? [program, args] : ["sh", ["-c", 'cat | "$@"', "sh", program, ...args]];
    const child = spawn(file, words, {
      stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
      timeout: timeoutMs,
      killSignal: "SIGKILL",
      ...(environment && { env: { ...process.env, ...environment } }),
    });
    const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
    child.stdout?.on("data", (chunk: Buffer) => stdout.push(chunk));
    child.stderr?.on("data", (chunk: Buffer) => stderr.push(chunk));
    child.once("error", (cause) => {
      const result = { status: -1, stdout: "", stderr: cause.message };
      reject(new CommandError([program, ...args].join(" "), result, { cause }));
    });
    child.once("close", (status) => {
      const text = (chunks: Buffer[]) => Buffer.concat(chunks).toString("utf8");
      resolve({ status: status ?? -1, stdout: text(stdout), stderr: text(stderr) });
    });
    // One that ends before it has read everything is judged by its status.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(input);
  });
}

/** Runs a program that must succeed; returns its output. @throws CommandError */
export async function outputOf(
  program: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<string> {
  const result = await runCommand(program, args, options);
  if (result.status !== 0) throw new CommandError([program, ...args].join(" "), result);
  return result.stdout;
}
