import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeUnused } from "../../../runtime/image/runtime-image";

describe("files of images that nobody used for a day", () => {
  const now = Date.UTC(2026, 10, 28);
  const hours = (count: number) => new Date(now - count * 3_600_000);
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "pulumi-liqo-unused-"));
    for (const [name, age] of Object.entries({
      "a.tar": 1,
      "b.tar": 23,
      "c.tar": 25,
      "d.tar": 300,
      "e.txt": 300,
    })) {
      writeFileSync(join(folder, name), "");
      utimesSync(join(folder, name), hours(age), hours(age));
    }
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  for (const [keep, left] of [
    [0, ["a.tar", "b.tar", "e.txt"]],
    [3, ["a.tar", "b.tar", "c.tar", "e.txt"]],
    [9, ["a.tar", "b.tar", "c.tar", "d.tar", "e.txt"]],
  ] as const)
    it(`go, but for the newest ${keep} and those of other names`, () => {
      removeUnused(folder, { name: /\.tar$/, keep }, now);
      assert.deepEqual(readdirSync(folder).sort(), left);
    });
});
