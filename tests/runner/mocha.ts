/** One process of mocha, with the report of its tests. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { compileCache } from "../../provider/local-cluster/folders";
import { packageRoot } from "../../runtime/api/package-root";
import { type Ended, readReport, type Report } from "./outcome";
import { runProcess } from "./process";

/** Of the unit tests, and of one file of end-to-end tests, its clusters made and removed. */
const DEADLINE = 20 * 60_000;

export interface MochaOptions {
  name: string;
  /** Sources, relative to the root of the repository. */
  files: readonly string[];
  /** Whether its lines are shown as they come. */
  live: boolean;
  environment?: NodeJS.ProcessEnv;
}

export async function runMocha(options: MochaOptions): Promise<{ report: Report | undefined; ended: Ended }> {
  const { name, files, live, environment } = options;
  const root = packageRoot();
  const scratch = mkdtempSync(join(tmpdir(), "pulumi-liqo-test-"));
  const reportFile = join(scratch, "report.json");
  const compiled = (file: string) => join(root, "dist", file.replace(/\.ts$/, ".js"));
  try {
    const ended = await runProcess({
      name,
      script: join(root, "node_modules", "mocha", "bin", "mocha.js"),
      args: [
        "--exit",
        "--forbid-only",
        // Tests with drawn values take their time on a loaded machine; those that wait for clusters say how long themselves.
        "--timeout",
        "60000",
        "--reporter",
        compiled("tests/runner/mocha-reporter.ts"),
        ...files.map(compiled),
      ],
      cwd: root,
      deadline: DEADLINE,
      environment: {
        NODE_COMPILE_CACHE: compileCache(),
        // API servers and engines of tests live shortly: memory for a sixth of their processor time.
        GOGC: "400",
        ...environment,
        TEST_OUTCOME_FILE: reportFile,
      },
      live,
    });
    return { report: readReport(reportFile), ended };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
