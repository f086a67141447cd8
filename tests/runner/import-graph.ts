/** Which sources a change concerns: those that import a changed file, directly or through others. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

import ts from "typescript";

import { runCommand } from "../../provider/local-cluster/run-command";

/** Imports of each source, by paths relative to the root of the repository. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

/** Reads the relative imports of these sources; a file that they name and that is not a source (`schema.json`) is part of the graph, too. */
export function readImportGraph(root: string, sources: readonly string[]): ImportGraph {
  const known = new Set(sources);
  return new Map(
    sources.map((source) => [
      source,
      importsOf(readFileSync(join(root, source), "utf8")).flatMap(
        (specifier) =>
          resolve(source, specifier, (path) => known.has(path) || existsSync(join(root, path))) ?? [],
      ),
    ]),
  );
}

/** The relative specifiers that a source imports, or names to start as a process. */
export function importsOf(text: string): string[] {
  const { importedFiles } = ts.preProcessFile(text, true, true);
  const resolved = [...text.matchAll(/require\.resolve\("(\.[^"]+)"\)/g)].map(
    ([, specifier = ""]) => specifier,
  );
  const joined = [...text.matchAll(/join\(__dirname((?:,\s*"[^"]+")+)\)/g)].map(
    ([, parts = ""]) => `./${[...parts.matchAll(/"([^"]+)"/g)].map(([, part = ""]) => part).join("/")}`,
  );
  return [...importedFiles.map(({ fileName }) => fileName), ...resolved, ...joined]
    .filter((name) => name.startsWith("."))
    .map((name) => name.replace(/\.js$/, ""));
}

function resolve(source: string, specifier: string, exists: (path: string) => boolean): string | undefined {
  const path = normalize(join(dirname(source), specifier));
  // A folder's name alone is no file of the graph: its index is.
  return [`${path}.ts`, `${path}/index.ts`, path].find(
    (candidate) => exists(candidate) && /\.\w+$/.test(candidate),
  );
}

/** All that a source reaches by its imports, itself included. */
export function reachedFrom(source: string, graph: ImportGraph): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [source];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    open.push(...(graph.get(next) ?? []));
  }
  return reached;
}

/**
 * The tests that a change concerns. A test is concerned when it reaches a changed file, or when a file changed that tests use without importing
 * it: what every process is started with, or a file that belongs to no source.
 *
 * @returns `all` where the change may concern any test, with the file that decides it
 */
export function concernedTests(
  tests: readonly string[],
  changed: readonly string[],
  graph: ImportGraph,
): { tests: string[]; all?: string } {
  const general = changed.find((file) => CONCERNS_ALL.some((pattern) => pattern.test(file)));
  if (general !== undefined) return { tests: [...tests], all: general };
  return {
    tests: tests.filter((test) => {
      const reached = reachedFrom(test, graph);
      return changed.some((file) => reached.has(file) || concernsByUse(file, reached));
    }),
  };
}

/** Files that differ from a revision, and new ones that git would add; relative to the root. @throws if git knows no such revision */
export async function changedFiles(root: string, revision: string): Promise<string[]> {
  const git = async (...args: string[]) =>
    (await runCommand("git", args, { cwd: root })).split("\0").filter((file) => file !== "");
  try {
    const changed = await git("diff", "--name-only", "-z", revision, "--");
    return [
      ...new Set([...changed, ...(await git("ls-files", "-z", "--others", "--exclude-standard"))]),
    ].sort();
  } catch (cause) {
    throw new Error(
      `--changed: git cannot compare the working tree with "${revision}"; give a commit, a branch or a tag`,
      { cause },
    );
  }
}

/** Dependencies, the compiler's settings, the tools of local clusters and the runner. */
const CONCERNS_ALL = [
  /^package(-lock)?\.json$/,
  /^tsconfig\.json$/,
  /^provider\/local-cluster\/toolchain\//,
  /^tests\/runner\//,
  /^scripts\/bootstrap\.mjs$/,
];

/** Files that are read or started by name, and the source that does it. */
const USES: readonly (readonly [file: RegExp, user: RegExp])[] = [
  // Processes and images run the whole runtime.
  [
    /^runtime\/.*\.ts$/,
    /^(runtime\/image\/|tests\/support\/(host-runtime|managed-cluster|virtual-kubelet-process|liqoctl)\.ts$)/,
  ],
  [/^runtime\/api\/crds\//, /^(runtime\/plan\/|tests\/support\/install-definitions\.ts$)/],
  [
    /^examples\//,
    /^tests\/(support\/documents|e2e\/(quick-start|docs|components)\.test)\.ts$|^scripts\/quick-start\//,
  ],
  [/^(docs\/.*|README)\.md$/, /^tests\/support\/documents\.ts$/],
  [/^(provider|components)\/.*\.ts$/, /^tests\/support\/pulumi-project\.ts$/],
  [/^tests\/fixtures\//, /^tests\//],
  [/^provider\/plugin\/schema\.json$/, /^provider\/plugin\//],
];

function concernsByUse(file: string, reached: ReadonlySet<string>): boolean {
  return USES.some(
    ([pattern, user]) => pattern.test(file) && [...reached].some((source) => user.test(source)),
  );
}
