/**
 * `npm test [-- PART-OF-A-PATH…]`: the whole suite, or the test files whose path contains one of the words. Unit tests run in one process;
 * each file of end-to-end tests runs in its own, one after the other, with a deadline. Ends with the line `N passed, N failed`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { z } from "zod";

import { linkPackage } from "../provider/engine/package-link";
import { ensureTools } from "../provider/local-cluster/toolchain";
import { toolCatalogue, type ToolName } from "../provider/local-cluster/toolchain/tool-catalogue";
import { packageRoot } from "../runtime/api/package-root";

const MINUTE = 60_000;
/** Of the unit tests, and of each check of the sources: three minutes where nothing else runs. */
const UNIT_DEADLINE = 20 * MINUTE;
/** Of one end-to-end file: clusters made, tested and removed. */
const END_TO_END_DEADLINE = 20 * MINUTE;
/** How long a process that was asked to stop may take to remove its clusters. */
const GRACE = MINUTE;

interface Outcome {
  passed: number;
  /** What failed, one text each. */
  failed: string[];
}

const reportSchema = z.object({
  passes: z.number(),
  pending: z.number(),
  failed: z.array(z.object({ title: z.string(), message: z.string() })),
});

const root = packageRoot();
const compiled = join(root, "dist");
/** The processes that run at the moment, to be stopped with this one. */
const running = new Set<ChildProcess>();
let interrupted = false;
/** What failed in a first run and is not counted. */
const secondChances: string[] = [];

async function runSuite(words: readonly string[]): Promise<Outcome> {
  const total: Outcome = { passed: 0, failed: [] };
  const add = ({ passed, failed }: Outcome) => {
    total.passed += passed;
    total.failed.push(...failed);
  };
  const wanted = (file: string) => words.length === 0 || words.some((word) => file.includes(word));
  const unit = testFiles("unit").filter(wanted);
  const endToEnd = testFiles("e2e").filter(wanted);

  if (words.length === 0) linkPackage(); // the examples import it by name
  // Each of them keeps one processor busy for minutes.
  const checks = words.length === 0 ? sourceChecks() : Promise.resolve([]);
  if (unit.length > 0) add(await mocha("unit tests", unit, UNIT_DEADLINE));
  for (const outcome of await checks) add(outcome);
  if (endToEnd.length > 0) {
    const tools = Object.keys(toolCatalogue).filter((name): name is ToolName =>
      Object.hasOwn(toolCatalogue, name),
    );
    await ensureTools(tools, { progress: (line) => console.log(line) });
    for (const file of endToEnd) add(await endToEndFile(file));
  }
  return total;
}

/**
 * Real clusters on a busy machine miss a deadline now and then: a file that failed runs once more by itself, and only that counts. Both runs
 * stand in the output, so that a test that often needs its second chance is seen.
 */
async function endToEndFile(file: string): Promise<Outcome> {
  const first = await mocha(file, [file], END_TO_END_DEADLINE);
  if (first.failed.length === 0 || interrupted) return first;
  console.log(`\n${file}: ${first.failed.length} failed in the first run; running it once more`);
  secondChances.push(...first.failed);
  return mocha(file, [file], END_TO_END_DEADLINE);
}

/** Compiled test files of a kind, relative to the folder of compiled files. */
function testFiles(kind: "unit" | "e2e"): string[] {
  const folder = join(compiled, "tests", kind);
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.js"))
    .map((file) => join("tests", kind, file))
    .filter((file) => existsSync(join(root, file.replace(/\.js$/, ".ts")))) // left over from a source that is gone
    .sort();
}

async function sourceChecks(): Promise<Outcome[]> {
  return [
    await check("eslint", ["eslint/bin/eslint.js", "."]),
    await check("prettier", ["prettier/bin/prettier.cjs", "--check", "--log-level=warn", "."]),
  ];
}

/** A check without tests of its own counts as one test. */
async function check(name: string, [script = "", ...parameters]: string[]): Promise<Outcome> {
  console.log(`\n${name}`);
  const code = await run(name, join(root, "node_modules", script), parameters, UNIT_DEADLINE, {});
  return code === 0 ? { passed: 1, failed: [] } : { passed: 0, failed: [`${name}: ended with code ${code}`] };
}

async function mocha(name: string, files: string[], deadline: number): Promise<Outcome> {
  console.log(`\n${name}`);
  const scratch = mkdtempSync(join(tmpdir(), "pulumi-liqo-test-"));
  const report = join(scratch, "report.json");
  try {
    const code = await run(
      name,
      join(root, "node_modules", "mocha", "bin", "mocha.js"),
      [
        "--exit",
        "--forbid-only",
        // Tests with drawn values take their time on a loaded machine; those that wait for clusters say how long themselves.
        "--timeout",
        "60000",
        "--reporter",
        join(compiled, "scripts", "test-reporter.js"),
        ...files.map((file) => join(compiled, file)),
      ],
      deadline,
      { TEST_OUTCOME_FILE: report },
    );
    return outcomeOf(name, report, code);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** A process that ended without a report, or failed though no test did, counts as one failure; so does each skipped test. */
function outcomeOf(name: string, reportFile: string, code: number): Outcome {
  if (!existsSync(reportFile)) {
    return { passed: 0, failed: [`${name}: ended with code ${code} before its tests did`] };
  }
  const report = reportSchema.parse(JSON.parse(readFileSync(reportFile, "utf8")));
  const failed = [
    ...report.failed.map(({ title, message }) => `${name}: ${title}: ${firstLines(message)}`),
    ...Array.from({ length: report.pending }, () => `${name}: a skipped test`),
  ];
  if (failed.length === 0 && report.passes === 0) failed.push(`${name}: holds no test`);
  if (failed.length === 0 && code !== 0)
    failed.push(`${name}: ended with code ${code}, though no test failed`);
  return { passed: report.passes, failed };
}

/** Enough of an error to know it by; the whole of it stands where the test ran. */
function firstLines(message: string): string {
  return message.split("\n").slice(0, 5).join("\n    ").slice(0, 1000);
}

/** Runs a script under this Node; at the deadline asks it to stop, then makes it. Gives its exit code. */
function run(
  name: string,
  script: string,
  parameters: string[],
  deadline: number,
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  if (interrupted) return Promise.resolve(1);
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ["--enable-source-maps", script, ...parameters], {
      cwd: root,
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...process.env, ...environment },
    });
    const start = performance.now();
    running.add(child);
    const end = setTimeout(() => {
      console.error(`${name}: no end after ${deadline / MINUTE} min`);
      stop(child);
    }, deadline);
    child.on("error", (error) => console.error(error.message));
    child.on("close", (code) => {
      clearTimeout(end);
      running.delete(child);
      console.log(`${name}: ${Math.round((performance.now() - start) / 1000)} s`);
      resolve(code ?? 1);
    });
  });
}

function stop(child: ChildProcess): void {
  child.kill("SIGTERM");
  setTimeout(() => child.kill("SIGKILL"), GRACE).unref();
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    if (interrupted) return;
    interrupted = true;
    running.forEach(stop);
    process.exitCode = 1;
  });
}

/** What failed stands once more at the end: of a long output often only that is kept. */
function summary({ passed, failed }: Outcome): string {
  const listed = (heading: string, entries: readonly string[]) =>
    entries.length === 0 ? [] : [heading, ...entries.map((entry) => `  - ${entry}`), ""];
  return [
    "",
    ...listed("failed in a first run, and run once more:", secondChances),
    ...listed("failed:", failed),
    ...(passed + failed.length === 0 ? ["no test ran: no test file has such a path"] : []),
    `${passed} passed, ${failed.length} failed`,
  ].join("\n");
}

runSuite(process.argv.slice(2))
  .catch((error: unknown): Outcome => {
    return { passed: 0, failed: [error instanceof Error ? error.message : String(error)] };
  })
  .then((outcome) => {
    if (outcome.failed.length > 0 || outcome.passed === 0) process.exitCode = 1;
    console.log(summary(outcome));
  })
  .catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  });
