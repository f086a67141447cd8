/** `npm run pulumi -- <arguments>`: the Pulumi CLI with everything that it needs to run the programs of this package. */
import { spawn } from "node:child_process";

import { preparePulumi } from "./engine";

async function main(args: readonly string[]): Promise<number> {
  const { pulumi, environment } = await preparePulumi({ progress: (line) => console.error(line) });
  // npm changes to the package's folder; the user meant the one he is in.
  const cwd = process.env["INIT_CWD"] ?? process.cwd();
  const child = spawn(pulumi, args, { cwd, env: environment, stdio: "inherit" });
  // The terminal sends Ctrl-C to the CLI as well, which ends in order; this process waits for it.
  process.on("SIGINT", () => undefined);
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve(code ?? 1));
  });
}

main(process.argv.slice(2)).then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  },
);
