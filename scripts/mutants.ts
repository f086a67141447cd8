/**
 * `npm run mutants -- PATH… [--least PERCENT]`: changes each expression of some pure sources in turn, runs the unit tests that import them, and
 * names the changes that no test noticed.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { z } from "zod";

import { cacheFolder } from "../provider/local-cluster/folders";
import { packageRoot } from "../runtime/api/package-root";
import { readImportGraph } from "../tests/runner/import-graph";
import { allSources, testSources } from "../tests/runner/suite";

const USAGE = "npm run mutants -- PATH… [--least PERCENT]";
/** Installed on first use: it is large, and nothing else needs it. */
const STRYKER = "10.0.0";
/** Below the checkout, so that modules are found. */
const COPIES = ".build/mutants";

const reportSchema = z.object({
  files: z.record(
    z.string(),
    z.object({
      source: z.string(),
      mutants: z.array(
        z.object({
          status: z.string(),
          mutatorName: z.string(),
          replacement: z.string().default(""),
          location: z.object({ start: z.object({ line: z.number() }) }),
        }),
      ),
    }),
  ),
});

function main(args: readonly string[]): number {
  const root = packageRoot();
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { least: { type: "string", default: "95" } },
  });
  const sources = allSources(root);
  const mutated = positionals.flatMap((path) => {
    const found = sources.filter(
      (source) => source === path || source.startsWith(`${path.replace(/\/$/, "")}/`),
    );
    if (found.length === 0) throw new Error(`PATH "${path}" names no source; usage: ${USAGE}`);
    return found;
  });
  if (mutated.length === 0) throw new Error(`PATH is missing; usage: ${USAGE}`);
  const least = Number(values.least);
  if (!(least >= 0 && least <= 100))
    throw new Error(`--least is "${values.least}", and must be a number from 0 to 100; usage: ${USAGE}`);

  const graph = readImportGraph(root, sources);
  const tests = testSources(root, "unit").filter((test) =>
    (graph.get(test) ?? []).some((imported) => mutated.includes(imported)),
  );
  if (tests.length === 0) throw new Error(`no unit test imports ${mutated.join(", ")}`);

  const report = join(root, ".build", "mutants.json");
  runStryker(root, mutated, tests, report);
  return tell(reportSchema.parse(JSON.parse(readFileSync(report, "utf8"))), least);
}

function runStryker(
  root: string,
  mutated: readonly string[],
  tests: readonly string[],
  report: string,
): void {
  const folder = join(cacheFolder(), `stryker-${STRYKER}`);
  const script = join(folder, "node_modules", "@stryker-mutator", "core", "bin", "stryker.js");
  if (!existsSync(script)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), "{}");
    run(
      "npm",
      ["install", "--no-audit", "--no-fund", "--ignore-scripts", `@stryker-mutator/core@${STRYKER}`],
      folder,
    );
  }
  const compiled = tests.map((test) => join("dist", test.replace(/\.ts$/, ".js")));
  const configuration = {
    mutate: mutated,
    testRunner: "command",
    // Stryker splits commands at spaces and runs them in a copy three folders below the checkout.
    commandRunner: {
      command: `node ../../../node_modules/mocha/bin/mocha.js --exit --bail --reporter dot ${compiled.join(" ")}`,
    },
    buildCommand: "node ../../../node_modules/typescript7/bin/tsc -p tsconfig.json --noCheck",
    tempDirName: COPIES,
    ignorePatterns: [".build", "dist", "docs", "examples"],
    // The compiler is another one than Stryker knows.
    tsconfigFile: "none.json",
    disableTypeChecks: true,
    reporters: ["json", "progress"],
    jsonReporter: { fileName: report },
    concurrency: availableParallelism(),
    allowEmpty: false,
  };
  const file = join(root, ".build", "stryker.json");
  mkdirSync(join(root, ".build"), { recursive: true });
  rmSync(report, { force: true });
  writeFileSync(file, JSON.stringify(configuration));
  run(process.execPath, [script, "run", file], root);
}

function run(program: string, args: readonly string[], cwd: string): void {
  const { status, error } = spawnSync(program, args, { cwd, stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0) throw new Error(`${program} ${args[0] ?? ""} failed`, { cause: error });
}

/** Prints what survived, and the share that did not. */
function tell({ files }: z.output<typeof reportSchema>, least: number): number {
  let killed = 0;
  let all = 0;
  for (const [path, { source, mutants }] of Object.entries(files)) {
    const lines = source.split("\n");
    for (const { status, mutatorName, replacement, location } of mutants) {
      if (status === "Ignored") continue;
      all += 1;
      if (
        status === "Killed" ||
        status === "Timeout" ||
        status === "RuntimeError" ||
        status === "CompileError"
      ) {
        killed += 1;
        continue;
      }
      const { line } = location.start;
      console.log(`${path}:${line}: ${mutatorName} lives: ${replacement.split("\n")[0] ?? ""}`);
      console.log(`    ${lines[line - 1]?.trim() ?? ""}`);
    }
  }
  const percent = (100 * killed) / all;
  console.log(
    `${killed} of ${all} changes were noticed (${percent.toFixed(1)} %; at least ${least} % are asked for)`,
  );
  return percent >= least ? 0 : 1;
}

try {
  process.exitCode = main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
