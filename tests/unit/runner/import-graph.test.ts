import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { packageRoot } from "../../../runtime/api/package-root";
import { concernedTests, importsOf, reachedFrom, readImportGraph } from "../../runner/import-graph";
import { allSources, testSources } from "../../runner/suite";

describe("the imports of a source", () => {
  it("are what it imports, exports from, requires or starts as a process", () => {
    const text = `
      import { a } from "./a";
      import type { B } from "../b";
      export * from "./c";
      const d = await import("./d");
      import pulumi from "@pulumi/pulumi";
      const main = require.resolve("../../runtime/main");
      const other = join(__dirname, "..", "support/child.js");`;
    assert.deepEqual(importsOf(text).sort(), [
      "../../runtime/main",
      "../b",
      "./../support/child",
      "./a",
      "./c",
      "./d",
    ]);
  });
});

describe("the tests that a change concerns", () => {
  const graph = new Map([
    ["tests/unit/one.test.ts", ["runtime/a.ts"]],
    ["tests/unit/two.test.ts", ["runtime/b.ts"]],
    ["tests/e2e/process.test.ts", ["tests/support/host-runtime.ts"]],
    ["tests/support/host-runtime.ts", []],
    ["runtime/a.ts", ["runtime/c.ts"]],
    ["runtime/b.ts", []],
    ["runtime/c.ts", ["runtime/a.ts"]],
  ]);
  const tests = ["tests/unit/one.test.ts", "tests/unit/two.test.ts", "tests/e2e/process.test.ts"];
  const cases: [string, readonly string[], readonly string[]][] = [
    ["nothing changed", [], []],
    ["a test itself", ["tests/unit/two.test.ts"], ["tests/unit/two.test.ts"]],
    [
      "what a test imports through others, in a circle; and what processes run",
      ["runtime/c.ts"],
      ["tests/unit/one.test.ts", "tests/e2e/process.test.ts"],
    ],
    ["a document that no test reads", ["CHANGELOG.md"], []],
    ["the dependencies", ["package-lock.json"], tests],
  ];
  for (const [title, changed, expected] of cases) {
    it(title, () => assert.deepEqual(concernedTests(tests, changed, graph).tests, expected));
  }

  it("names the file that concerns all", () => {
    assert.equal(concernedTests(tests, ["runtime/a.ts", "tsconfig.json"], graph).all, "tsconfig.json");
  });
});

describe("the import graph of this repository", () => {
  const root = packageRoot();
  const graph = readImportGraph(root, allSources(root));

  it("holds existing files only", () => {
    for (const [source, imports] of graph)
      for (const path of imports) assert.ok(existsSync(join(root, path)), `${source} imports ${path}`);
  });

  it("leads from each test to something that it tests", () => {
    for (const test of [...testSources(root, "unit"), ...testSources(root, "e2e")]) {
      const reached = [...reachedFrom(test, graph)];
      const product = /^(runtime|provider|components|scripts|tests\/(support|runner|bench))\//;
      assert.ok(
        reached.some((file) => product.test(file)),
        `${test} reaches ${reached.join(", ")}`,
      );
    }
  });
});
