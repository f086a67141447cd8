/**
 * `npm run stress -- FILE TIMES [--busy PROCESSES]`: runs one test file again and again while other processes keep the machine busy, and says how
 * often it failed, and what.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";

import { packageRoot } from "../runtime/api/package-root";
import { runMocha } from "../tests/runner/mocha";
import { outcomeOfTests } from "../tests/runner/outcome";
import { stopOnSignals } from "../tests/runner/process";
import { nameOf, testSources } from "../tests/runner/suite";

const USAGE = "npm run stress -- FILE TIMES [--busy PROCESSES]";

interface CommandLine {
  file: string;
  times: number;
  busy: number;
}

/** @throws naming the word that does not fit, and the usage */
function readCommandLine(args: readonly string[]): CommandLine {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { busy: { type: "string", default: String(availableParallelism()) } },
  });
  const [word = "", count = ""] = positionals;
  const files = [...testSources(packageRoot(), "unit"), ...testSources(packageRoot(), "e2e")];
  const exact = files.filter((file) => nameOf(file) === word || file === word);
  const found = exact.length > 0 ? exact : files.filter((file) => file.includes(word));
  const [file] = found;
  if (word === "") throw new Error(`FILE is missing; usage: ${USAGE}`);
  if (file === undefined) throw new Error(`FILE "${word}" names no test file; usage: ${USAGE}`);
  if (found.length > 1) {
    const shown = found.slice(0, 5).join(", ");
    const more = found.length > 5 ? ` and ${found.length - 5} more` : "";
    throw new Error(`FILE "${word}" names ${shown}${more}, and must name one; usage: ${USAGE}`);
  }
  return { file, times: natural("TIMES", count, 1), busy: natural("--busy", values.busy, 0) };
}

function natural(name: string, text: string, least: number): number {
  const value = Number(text);
  if (text === "" || !Number.isInteger(value) || value < least)
    throw new Error(`${name} is "${text}", and must be a whole number from ${least} on; usage: ${USAGE}`);
  return value;
}

async function stress({ file, times, busy }: CommandLine): Promise<number> {
  const failures = new Map<string, number>();
  const load = Array.from({ length: busy }, burn);
  let failedRuns = 0;
  try {
    for (let run = 1; run <= times; run++) {
      const name = `${nameOf(file)}, run ${run} of ${times}`;
      const { report, ended } = await runMocha({ name, files: [file], live: true });
      const { failed } = outcomeOfTests(nameOf(file), report, ended, []);
      if (failed.length > 0) failedRuns++;
      for (const failure of failed) failures.set(failure, (failures.get(failure) ?? 0) + 1);
      if (process.exitCode !== undefined) break; // interrupted
    }
  } finally {
    for (const child of load) child.kill("SIGKILL");
  }
  const lines = [...failures].map(([failure, count]) => `  ${count} times: ${failure}`);
  console.log(
    [``, `${failedRuns} of ${times} runs failed beside ${busy} busy processes`, ...lines].join("\n"),
  );
  return failedRuns;
}

/** A process that keeps a processor busy until it is killed. */
function burn(): ChildProcess {
  const child = spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" });
  process.once("exit", () => child.kill("SIGKILL"));
  return child;
}

stopOnSignals();
Promise.resolve()
  .then(() => stress(readCommandLine(process.argv.slice(2))))
  .then(
    (failed) => {
      if (failed > 0) process.exitCode = 1;
    },
    (error: unknown) => {
      console.error(error instanceof Error ? error.message : error);
      process.exitCode = 1;
    },
  );
