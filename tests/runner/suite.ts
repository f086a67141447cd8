/** What a test run consists of: checks of the sources, unit tests, and a process for each file of end-to-end tests. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import type { Need } from "./budget";
import { type ImportGraph, reachedFrom } from "./import-graph";

/** Files that one process of mocha runs: all unit tests, or one file of end-to-end tests. */
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
  return ["runtime", "provider", "components", "plugin", "scripts", "tests"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => join(folder, file)),
  );
}

/** A process for each file of end-to-end tests; those that need most start first, then those of Pulumi's engine, which take longest. */
export function testGroups(files: readonly string[], graph: ImportGraph): TestGroup[] {
  return files
    .map((file) => {
      const reached = reachedFrom(file, graph);
      const engine = Number(reached.has("tests/support/pulumi-project.ts"));
      return { group: { name: nameOf(file), files: [file], need: needOf(reached) }, engine };
    })
    .sort((a, b) => b.group.need.cores - a.group.need.cores || b.engine - a.engine)
    .map(({ group }) => group);
}

/** Name of a test file: `renewal` of tests/e2e/renewal.test.ts. */
export function nameOf(file: string): string {
  return file.replace(/^tests\/e2e\//, "").replace(/\.test\.ts$/, "");
}

/** Of a pair of control planes with what a test runs on them: three at a time on two processors, which four only make slower each. */
const CONTROL_PLANES: Need = { cores: 0.66, memoryMb: 3_500 };
/** Of hundreds of peerings on a pair of control planes. */
const MANY_PEERINGS: Need = { cores: 1, memoryMb: 3_500 };
/** Of whole clusters with their nodes and pods: on two processors never two such files, but one of control planes beside. */
const WHOLE_CLUSTERS: Need = { cores: 1.34, memoryMb: 8_000 };

function needOf(reached: ReadonlySet<string>): Need {
  if (reached.has("tests/support/local-checkout.ts")) return WHOLE_CLUSTERS;
  return reached.has("tests/support/permutations.ts") ? MANY_PEERINGS : CONTROL_PLANES;
}
