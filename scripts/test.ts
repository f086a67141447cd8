/**
 * `npm test [-- PART-OF-A-PATH… | -- --changed [REVISION]] [--coverage FOLDER]`: the whole suite, the test files whose path contains one of the words, or
 * those that a change concerns. Processes run side by side as far as the machine has processors and memory. Ends with the line
 * `N passed, N failed`.
 */
import { existsSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { join, resolve } from "node:path";

import { missingPulumiTools, preparePulumi } from "../provider/engine/engine";
import { linkPackage } from "../provider/engine/package-link";
import { pluginVersion } from "../provider/engine/plugin-version";
import { ensureSystemPackages } from "../provider/local-cluster/system-packages";
import { ensureTools, missingTools, type ToolName } from "../provider/local-cluster/toolchain";
import { ToolPlan } from "../provider/local-cluster/toolchain/tool-plan";
import { packageRoot } from "../runtime/api/package-root";
import { type Job, JobPool } from "../tests/runner/budget";
import { type CommandLine, readCommandLine } from "../tests/runner/command-line";
import {
  changedFiles,
  concernedTests,
  type ImportGraph,
  readImportGraph,
} from "../tests/runner/import-graph";
import { type KnownFailure, knownFailures } from "../tests/runner/known-failures";
import { runMocha } from "../tests/runner/mocha";
import { type Outcome, outcomeOfCheck, outcomeOfTests } from "../tests/runner/outcome";
import { runProcess, stopOnSignals, wasInterrupted } from "../tests/runner/process";
import {
  hasPassed,
  rememberPassed,
  type SourceCheck,
  sourceChecks,
  treeHash,
} from "../tests/runner/source-checks";
import { allSources, type TestGroup, testGroups, testSources } from "../tests/runner/suite";
import { closingLines, timeTable } from "../tests/runner/summary";

/** Of each check of the sources: three minutes where nothing else runs. */
const CHECK_DEADLINE = 20 * 60_000;

const root = packageRoot();
const outcomes: Outcome[] = [];

async function runSuite(options: CommandLine): Promise<void> {
  const graph = readImportGraph(root, allSources(root));
  const { unit, endToEnd, sources } = await chooseFiles(options, graph);
  const pool = new JobPool({ cores: availableParallelism(), memoryMb: (totalmem() / 1024 ** 2) * 0.8 });
  const groups = testGroups(endToEnd, graph);
  const checks = sourceChecks(root, sources);
  if (checks.length > 0) linkPackage(); // the examples import it by name
  const how = {
    ...options,
    live: Number(unit.length > 0) + groups.length + checks.length === 1,
  };
  pool.add([
    ...(unit.length > 0 ? [unitJob(unit, how)] : []),
    ...(await checkJobs(checks, sources.includes("."))),
  ]);
  try {
    if (groups.length > 0) {
      const kubernetesPlugin = await prepareMachine();
      console.log(`tests of the Pulumi engine use the Kubernetes plugin ${kubernetesPlugin}`);
      const known = knownFailures(root, kubernetesPlugin);
      pool.add(groups.map((group) => endToEndJob(group, known, how)));
    }
  } finally {
    await pool.whenIdle();
  }
}

interface ChosenFiles {
  unit: string[];
  endToEnd: string[];
  /** What eslint and prettier look at: the whole tree (`.`), changed files, or nothing. */
  sources: string[];
}

async function chooseFiles({ words, changedSince }: CommandLine, graph: ImportGraph): Promise<ChosenFiles> {
  const [unit, endToEnd] = [testSources(root, "unit"), testSources(root, "e2e")];
  if (changedSince !== undefined) {
    const changed = await changedFiles(root, changedSince);
    const { tests, all } = concernedTests([...unit, ...endToEnd], changed, graph);
    console.log(
      `files that differ from ${changedSince}: ${changed.length}; test files that they concern: ${tests.length} of ${unit.length + endToEnd.length}` +
        (all === undefined ? "" : ` (${all} may concern any)`),
    );
    if (all === undefined) for (const test of tests) console.log(`  ${test}`);
    const concerned = new Set(tests);
    return {
      unit: unit.filter((file) => concerned.has(file)),
      endToEnd: endToEnd.filter((file) => concerned.has(file)),
      sources: changed.filter((file) => existsSync(join(root, file))),
    };
  }
  const named = (file: string) => words.length === 0 || words.some((word) => file.includes(word));
  return {
    unit: unit.filter(named),
    endToEnd: endToEnd.filter(named),
    sources: words.length === 0 ? ["."] : [],
  };
}

async function checkJobs(checks: readonly SourceCheck[], wholeTree: boolean): Promise<Job[]> {
  if (checks.length === 0) return [];
  const hash = await treeHash(root);
  return checks.map(({ name, script, args }) => ({
    name,
    need: { cores: 1, memoryMb: 3_000 },
    run: async () => {
      if (wasInterrupted()) return;
      if (wholeTree && hasPassed(name, hash)) {
        console.log(`${name}: passed before on these very files`);
        outcomes.push(outcomeOfCheck(name, { code: 0, wallSeconds: 0, cpuSeconds: 0 }));
        return;
      }
      const ended = await runProcess({
        name,
        script,
        args,
        cwd: root,
        deadline: CHECK_DEADLINE,
        live: false,
      });
      if (wholeTree && ended.code === 0) rememberPassed(name, hash);
      outcomes.push(outcomeOfCheck(name, ended));
    },
  }));
}

/** How processes of mocha are run. */
interface How {
  coverage?: string;
  /** Whether there is only one, whose lines are shown as they come. */
  live: boolean;
}

function unitJob(files: readonly string[], how: How): Job {
  // Most of the time they wait, for timers and for processes of their own.
  const need = { cores: 0.34, memoryMb: 2_000 };
  return {
    name: "unit tests",
    need,
    run: () => mocha({ name: "unit tests", files, need }, [], how),
  };
}

function endToEndJob(group: TestGroup, known: readonly KnownFailure[], how: How): Job {
  const concerned = known.filter(({ file }) => group.files.includes(file));
  return { name: group.name, need: group.need, run: () => mocha(group, concerned, how) };
}

async function mocha(
  group: TestGroup,
  known: readonly KnownFailure[],
  { coverage, live }: How,
): Promise<void> {
  if (wasInterrupted()) return;
  const { name, files } = group;
  // Coverage of code from Node's compile cache is not exact.
  const environment =
    coverage === undefined ? {} : { NODE_V8_COVERAGE: resolve(coverage), NODE_DISABLE_COMPILE_CACHE: "1" };
  const { report, ended } = await runMocha({ name, files, live, environment });
  outcomes.push(outcomeOfTests(name, report, ended, known));
}

/**
 * What tests of clusters need of the machine: several files at once would each wait for it, or begin without it.
 *
 * @returns version of the Kubernetes plugin that tests of the real engine will use
 */
async function prepareMachine(): Promise<string> {
  const progress = (line: string) => console.log(line);
  const ofClusters: ToolName[] = ["kubernetes", "etcd", "coredns", "wireguard-go"];
  const plan = new ToolPlan([
    ...(await missingTools(ofClusters, { progress })),
    ...(await missingPulumiTools({ progress })),
  ]);
  const summary = plan.summary();
  if (summary !== undefined) progress(summary);
  const [engine] = await Promise.all([
    ensureTools(ofClusters, { progress, plan }).then(() => preparePulumi({ progress, plan })),
    ensureSystemPackages(progress),
  ]);
  return await pluginVersion("kubernetes", engine);
}

async function main(args: readonly string[]): Promise<void> {
  const start = performance.now();
  const errors: string[] = [];
  stopOnSignals();
  try {
    await runSuite(readCommandLine(args));
  } catch (error) {
    errors.push(error instanceof Error ? error.message : String(error));
  }
  if (wasInterrupted()) errors.push("interrupted: what had not started did not run");
  if (outcomes.length > 1) console.log(`\n${timeTable(outcomes, (performance.now() - start) / 1000)}`);
  console.log(closingLines(outcomes, errors));
  const passed = outcomes.some((outcome) => outcome.passed > 0);
  const failed = errors.length > 0 || outcomes.some((outcome) => outcome.failed.length > 0);
  if (failed || !passed) process.exitCode = 1;
}

void main(process.argv.slice(2));
