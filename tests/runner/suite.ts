/** What a test run consists of: checks of the sources, unit tests, and a process for each file, or group of files, of end-to-end tests. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import type { Need } from "./budget";
import { type ImportGraph, reachedFrom } from "./import-graph";

/** Files that one process of mocha runs. */
export interface TestGroup {
  name: string;
  /** Sources, relative to the root of the repository. */
  files: readonly string[];
  need: Need;
}

/** Sources of tests of a kind, relative to the root of the repository. */
export function testSources(root: string, kind: "unit" | "e2e"): string[] {
  const folder = join("tests", kind);
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => join(folder, file))
    .sort();
}

/** All TypeScript sources, relative to the root of the repository. */
export function allSources(root: string): string[] {
  return ["runtime", "provider", "components", "scripts", "tests"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => join(folder, file)),
  );
}

/**
 * The processes of end-to-end tests, those that need the machine for themselves first. Files that stand on the same set-up share one process and
 * so the clusters that this set-up makes once a process.
 */
export function testGroups(files: readonly string[], graph: ImportGraph): TestGroup[] {
  const groups = new Map<string, string[]>();
  for (const file of files) {
    const reached = reachedFrom(file, graph);
    const shared = SHARED_SETUPS.find((setup) => reached.has(setup)) ?? file;
    groups.set(shared, [...(groups.get(shared) ?? []), file]);
  }
  return [...groups.values()]
    .map((members): TestGroup => {
      const need = members.map((file) => needOf(file, reachedFrom(file, graph))).reduce(larger);
      return { name: members.map(nameOf).join(", "), files: members, need };
    })
    .sort((a, b) => Number(b.need.alone ?? false) - Number(a.need.alone ?? false));
}

/** Name of a test file: `renewal` of tests/e2e/renewal.test.ts. */
export function nameOf(file: string): string {
  return file.replace(/^tests\/e2e\//, "").replace(/\.test\.ts$/, "");
}

/** Modules of tests/support whose clusters serve all files of a process, and are reset between them. */
const SHARED_SETUPS: readonly string[] = [];

/** Of a pair of control planes with what a test runs on them; of a whole cluster with its nodes and pods. */
const CONTROL_PLANES: Need = { cores: 0.66, memoryMb: 2_500 };
const WHOLE_CLUSTERS: Need = { cores: 2, memoryMb: 8_000, alone: true };

function needOf(_file: string, reached: ReadonlySet<string>): Need {
  return reached.has("tests/support/local-checkout.ts") ? WHOLE_CLUSTERS : CONTROL_PLANES;
}

function larger(one: Need, other: Need): Need {
  return {
    cores: Math.max(one.cores, other.cores),
    memoryMb: Math.max(one.memoryMb, other.memoryMb),
    alone: one.alone === true || other.alone === true,
  };
}
