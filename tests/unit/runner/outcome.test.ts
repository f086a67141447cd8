import assert from "node:assert/strict";

import { type KnownFailure, knownFailures, refusesWhatExists } from "../../runner/known-failures";
import { outcomeOfTests, type Report } from "../../runner/outcome";
import { readCommandLine } from "../../runner/command-line";
import { testSources } from "../../runner/suite";
import { closingLines, timeTable } from "../../runner/summary";
import { packageRoot } from "../../../runtime/api/package-root";

const ENDED = { code: 0, wallSeconds: 12.4, cpuSeconds: 3.2 };
const entry = (title: string): KnownFailure => ({
  file: "tests/e2e/stack.test.ts",
  title,
  issue: 16,
  where: "kubernetes plugin 4.29 and later",
});
const report = (parts: Partial<Report>): Report => ({
  passed: [],
  pending: [],
  failed: [],
  waits: [],
  hookSeconds: 0,
  ...parts,
});
const broken = { title: "a stack goes on", message: "AlreadyExists" };

describe("what came of a test file", () => {
  const cases: [string, Report | undefined, number, readonly KnownFailure[], number, readonly RegExp[]][] = [
    ["all passed", report({ passed: ["a", "b"] }), 0, [], 2, []],
    ["one failed", report({ passed: ["a"], failed: [broken] }), 1, [], 1, [/a stack goes on: AlreadyExists/]],
    ["it ended early", undefined, 3, [], 0, [/ended with code 3 before its tests did/]],
    ["a test was skipped", report({ passed: ["a"], pending: ["b"] }), 0, [], 1, [/b: a skipped test/]],
    ["it holds no test", report({}), 0, [], 0, [/holds no test/]],
    ["it ended badly", report({ passed: ["a"] }), 1, [], 1, [/code 1, though no test failed/]],
    [
      "a known failure counts as neither",
      report({ passed: ["a"], failed: [broken] }),
      1,
      [entry(broken.title)],
      1,
      [],
    ],
    [
      "a known failure that passes fails",
      report({ passed: ["a", broken.title] }),
      0,
      [entry(broken.title)],
      1,
      [/passes, though tests\/known-failures.json says/],
    ],
    [
      "a known failure that no test has fails",
      report({ passed: ["a"] }),
      0,
      [entry("another title")],
      1,
      [/another title: stands in tests\/known-failures.json, and no such test ran/],
    ],
  ];
  for (const [title, given, code, known, passed, failed] of cases) {
    it(title, () => {
      const outcome = outcomeOfTests("stack", given, { ...ENDED, code }, known);
      assert.equal(outcome.passed, passed);
      assert.equal(outcome.failed.length, failed.length, outcome.failed.join("\n"));
      for (const [index, pattern] of failed.entries()) assert.match(outcome.failed[index] ?? "", pattern);
    });
  }
});

it("an interrupted test file is no failure of its tests", () => {
  const { failed } = outcomeOfTests("stack", undefined, { ...ENDED, code: 1, interrupted: true }, []);
  assert.deepEqual(failed, ["stack: interrupted"]);
});

describe("the end of a test run", () => {
  const outcomes = [
    outcomeOfTests("renewal", report({ passed: ["a"], hookSeconds: 9.6 }), ENDED, []),
    outcomeOfTests(
      "stack",
      report({ failed: [broken], waits: [{ what: "the node is Ready", seconds: 31.2 }] }),
      { code: 1, wallSeconds: 80, cpuSeconds: undefined },
      [],
    ),
  ];

  it("is a table of times, the longest first", () => {
    const [head, first, second, all] = timeTable(outcomes, 85).split("\n");
    assert.match(head ?? "", /^FILE +WALL +CPU +WAITED FOR$/);
    assert.match(first ?? "", /^stack +80 s +- +hooks 0 s, the node is Ready 31 s$/);
    assert.match(second ?? "", /^renewal +12 s +3 s +hooks 10 s$/);
    assert.match(all ?? "", /^all, side by side +85 s +3 s +92 s one after the other$/);
  });

  it("closes with the line that counts, errors of the run itself among the failures", () => {
    const lines = closingLines(outcomes, ["no tools"]).split("\n");
    assert.equal(lines.at(-1), "1 passed, 2 failed");
    assert.ok(lines.includes("  - no tools"));
  });
});

describe("the list of known failures", () => {
  const versions: [string, boolean][] = [
    ["4.25.0", false],
    ["4.28.9", false],
    ["4.29.0", true],
    ["4.34.2", true],
    ["5.0.0", true],
  ];
  for (const [version, expected] of versions) {
    it(`${expected ? "applies" : "does not apply"} with the Kubernetes plugin ${version}`, () => {
      assert.equal(refusesWhatExists(version), expected);
      if (!expected) assert.deepEqual(knownFailures(packageRoot(), version), []);
    });
  }

  it("names files of tests that there are", () => {
    const files = testSources(packageRoot(), "e2e");
    for (const { file } of knownFailures(packageRoot(), "4.34.2")) assert.ok(files.includes(file), file);
  });
});

describe("the words of npm test", () => {
  it("are parts of paths, or a revision to compare with", () => {
    assert.deepEqual(readCommandLine(["plan", "seed-001"]), { words: ["plan", "seed-001"] });
    assert.deepEqual(readCommandLine(["--changed"]), { words: [], changedSince: "HEAD" });
    assert.deepEqual(readCommandLine(["--changed", "main"]), { words: [], changedSince: "main" });
    assert.deepEqual(readCommandLine(["--coverage", "out"]), { words: [], coverage: "out" });
  });

  it("are refused where they mean nothing", () => {
    assert.throws(() => readCommandLine(["--changed", "main", "plan"]), /one revision, and there is "plan"/);
    assert.throws(() => readCommandLine(["--fast"]), /--fast.*usage: npm test/s);
  });
});
