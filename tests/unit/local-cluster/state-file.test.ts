import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { z } from "zod";

import { readStateFile, writeStateFile } from "../../../provider/local-cluster/native/state-file";

describe("a file of state", () => {
  const schema = z.object({ slot: z.number() });
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "pulumi-liqo-state-"))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it("is read as it was written, and is absent before", async () => {
    const file = join(folder, "clusters", "rome.json");
    assert.equal(await readStateFile(file, schema, "remove it"), undefined);
    await writeStateFile(file, { slot: 3 });
    await writeStateFile(file, { slot: 4 });
    assert.deepEqual(await readStateFile(file, schema, "remove it"), { slot: 4 });
    assert.deepEqual(readdirSync(join(folder, "clusters")), ["rome.json"]);
  });

  for (const text of ["", '{"slot": 3', '{"slot": "three"}', "[]"])
    it(`is refused with the way out when it holds ${JSON.stringify(text)}`, async () => {
      const file = join(folder, "rome.json");
      writeFileSync(file, text);
      await assert.rejects(readStateFile(file, schema, "remove the cluster rome"), (error: Error) => {
        assert.ok(error.message.startsWith(`${file} is not readable`), error.message);
        assert.match(error.message, /^[^\n]*; remove the cluster rome$/);
        return true;
      });
    });
});
