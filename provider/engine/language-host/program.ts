import { createRequire } from "node:module";
import { dirname, join } from "node:path";

import { z } from "zod";

/** What the engine says about the program that it wants run. */
export interface ProgramRequest {
  project: string;
  stack: string;
  organization: string;
  monitorAddress: string;
  engineAddress: string;
  rootDirectory: string;
  programDirectory: string;
  /** As in `main` of Pulumi.yaml, `.` without it. */
  entryPoint: string;
  arguments: readonly string[];
  parallel: number;
  dryRun: boolean;
  config: Readonly<Record<string, string>>;
  secretConfigKeys: readonly string[];
  /** `runtime.options` of Pulumi.yaml. */
  options: unknown;
}

const optionsSchema = z.object({
  /** Whether TypeScript is compiled on the way; by default yes. */
  typescript: z.boolean().default(true),
  /** Further arguments of Node. */
  nodeargs: z.string().default(""),
});

/** The command that runs a program: Node's arguments and the environment on top of ours. */
export interface ProgramCommand {
  args: string[];
  env: Record<string, string>;
}

/** The runner is asked for in the program's SDK, so that both are of one version. */
export function programCommand(request: ProgramRequest, runner: string): ProgramCommand {
  const options = optionsSchema.parse(request.options ?? {});
  const flags: [string, string][] = [
    ["monitor", request.monitorAddress],
    ["engine", request.engineAddress],
    ["organization", request.organization],
    ["project", request.project],
    ["root-directory", request.rootDirectory],
    ["stack", request.stack],
    ["pwd", request.programDirectory],
    ["parallel", String(request.parallel)],
  ];
  return {
    args: [
      ...options.nodeargs.split(" ").filter((argument) => argument !== ""),
      runner,
      ...flags.flatMap(([name, value]) => (value === "" ? [] : [`--${name}=${value}`])),
      ...(request.dryRun ? ["--dry-run"] : []),
      request.entryPoint === "" ? "." : request.entryPoint,
      ...request.arguments,
    ],
    env: {
      PULUMI_NODEJS_TYPESCRIPT: String(options.typescript),
      PULUMI_CONFIG: JSON.stringify(request.config),
      PULUMI_CONFIG_SECRET_KEYS: JSON.stringify(request.secretConfigKeys),
    },
  };
}

/**
 * A script of the Pulumi SDK that a folder's code uses: `run` for programs, `run-plugin` for plugins.
 *
 * @throws if no SDK is installed where the folder would find it
 */
export function sdkScript(folder: string, script: "run" | "run-plugin"): string {
  const resolve = createRequire(join(folder, "index.js"));
  try {
    return join(dirname(resolve.resolve("@pulumi/pulumi/package.json")), "cmd", script, "index.js");
  } catch (cause) {
    throw new Error(`the package @pulumi/pulumi is not installed for ${folder}; run npm install there`, {
      cause,
    });
  }
}

/** Exit code by which the runner says that it has already told the user. */
export const saidAlready = 32;
