import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { lockHolders } from "../../../scripts/quick-start/stack-lock";
import { removeEmptyBackend, removeTraces } from "../../../scripts/quick-start/stack-traces";

describe("the files of a stack of the quick start", () => {
  let backend: string;
  const write = (file: string, text: string) => {
    const path = join(backend, ".pulumi", file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  };
  beforeEach(() => (backend = mkdtempSync(join(tmpdir(), "pulumi-liqo-backend-"))));
  afterEach(() => rmSync(backend, { recursive: true, force: true }));

  it("are gone with it, and those of other stacks stay", () => {
    const ours = [
      write("backups/shop/local/local.1795860920.json", "{}"),
      write("history/shop/local/local-1.history.json", "{}"),
      write("stacks/shop/local.json.bak", "{}"),
      write("stacks/shop/local.json.bak.attrs", "{}"),
      write("locks/organization/shop/local/a.json", "{}"),
    ];
    const others = [
      write("stacks/shop/local-2.json", "{}"),
      write("backups/shop/local-2/local-2.1.json", "{}"),
      write("stacks/other/local.json", "{}"),
      write("meta.yaml", "version: 1"),
    ];
    removeTraces(`file://${backend}`, "shop", "local");
    removeTraces(`file://${backend}`, "shop", "local");
    removeTraces("https://pulumi.example", "other", "local");
    assert.deepEqual(ours.filter(existsSync), []);
    assert.deepEqual(others.filter(existsSync), others);
  });

  it("leave nothing of a backend that holds no other stack", () => {
    write("meta.yaml", "version: 1");
    write("stacks/shop/local.json.bak", "{}");
    const other = write("stacks/other/local.json", "{}");
    removeTraces(`file://${backend}`, "shop", "local");
    assert.equal(existsSync(join(backend, ".pulumi", "stacks", "shop")), false);
    removeEmptyBackend(backend);
    assert.ok(existsSync(other));
    rmSync(other);
    removeEmptyBackend(backend);
    removeEmptyBackend(backend);
    assert.equal(existsSync(backend), false);
  });

  it("name who holds a lock, whatever else lies beside it", () => {
    const folder = "locks/organization/shop/local";
    write(`${folder}/a.json`, JSON.stringify({ pid: 17, hostname: hostname() }));
    write(`${folder}/b.json`, JSON.stringify({ pid: 18, hostname: `not-${hostname()}` }));
    write(`${folder}/c.json`, '{"pid": 1');
    assert.deepEqual(lockHolders(`file://${backend}`, "shop", "local"), [17]);
    assert.deepEqual(lockHolders(`file://${backend}`, "shop", "never"), []);
  });
});
