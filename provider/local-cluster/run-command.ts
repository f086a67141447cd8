import { spawn } from "node:child_process";

export interface CommandOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Written to standard input. */
  input?: string;
  /** Milliseconds before the command is killed; none by default. */
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Receives both output streams as they come. */
  onOutput?: (text: string) => void;
}

export class CommandError extends Error {
  constructor(
    readonly command: string,
    readonly exitCode: number | undefined,
    readonly stderr: string,
    options?: ErrorOptions,
  ) {
    const said = stderr.trim().split("\n").slice(-12).join("\n");
    super(
      `${command}: ${exitCode === undefined ? "did not run" : `exit code ${exitCode}`}${said === "" ? "" : `: ${said}`}`,
      options,
    );
    this.name = "CommandError";
  }
}

/**
 * Runs a command to its end and returns its standard output.
 *
 * @throws CommandError with the end of standard error if it cannot be started, is killed or exits with another code than 0
 */
export async function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<string> {
  const shown = [command, ...args].join(" ").slice(0, 300);
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env,
      stdio: ["pipe", "pipe", "pipe"],
      timeout: options.timeoutMs,
      killSignal: "SIGKILL",
      signal: options.signal,
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      options.onOutput?.(text);
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
      options.onOutput?.(text);
    });
    child.stdin.on("error", () => undefined); // it may end without reading
    child.stdin.end(options.input ?? "");
    child.on("error", (cause) => reject(new CommandError(shown, undefined, cause.message, { cause })));
    child.on("close", (code, signal) => {
      if (code === 0) resolve(stdout);
      else
        reject(
          new CommandError(
            shown,
            code ?? undefined,
            signal === null ? stderr : `${stderr}\nended by ${signal}`,
          ),
        );
    });
  });
}
