import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { identifyProcess, isRunning, killProcess } from "../../../provider/local-cluster/process-identity";
import { withLock } from "../../../provider/local-cluster/process-lock";

describe("locks between processes", function () {
  this.timeout(180_000);
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "lock-test-"))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("let one at a time in and leave no file", async () => {
    const file = join(folder, "lock");
    let inside = 0;
    let most = 0;
    const waited: string[] = [];
    await Promise.all(
      ["a", "b", "c"].map((purpose) =>
        withLock(file, { purpose, onWait: (holder) => waited.push(holder.purpose) }, async () => {
          most = Math.max(most, ++inside);
          await sleep(30);
          inside--;
        }),
      ),
    );
    assert.equal(most, 1);
    assert.ok(waited.length >= 2 && waited.includes("a"), waited.join());
    assert.deepEqual(readdirSync(folder), []);
  });

  it("are taken over from a process that was killed, not from one that lives", async () => {
    const file = join(folder, "lock");
    const script = `require(${JSON.stringify(require.resolve("../../../provider/local-cluster/process-lock"))})
      .withLock(${JSON.stringify(file)}, { purpose: "hold" }, () => { console.log("held"); return new Promise((r) => setTimeout(r, 60000)); })`;
    const holder = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    await new Promise((resolve) => holder.stdout.once("data", resolve));
    let entered = false;
    const taken = withLock(file, { purpose: "take" }, () => Promise.resolve((entered = true)));
    await sleep(600);
    assert.equal(entered, false);
    holder.kill("SIGKILL");
    await taken;
    assert.equal(entered, true);
    assert.equal(existsSync(file), false);
  });

  it("are taken over when the number of the holder is another process's now", async () => {
    const file = join(folder, "lock");
    const self = identifyProcess(process.pid);
    writeFileSync(file, JSON.stringify({ ...self, startTime: "1", purpose: "old", token: "t" }));
    assert.equal(
      await withLock(file, { purpose: "new" }, () =>
        Promise.resolve(readFileSync(file, "utf8").includes('"new"')),
      ),
      true,
    );
  });

  it("give up waiting when they are told to", async () => {
    const file = join(folder, "lock");
    await withLock(file, { purpose: "outer" }, async () => {
      await assert.rejects(
        withLock(file, { purpose: "inner", signal: AbortSignal.timeout(100) }, () => Promise.resolve()),
        /abort/i,
      );
    });
  });
});

describe("identities of processes", () => {
  it("hold while the process runs and end with it", async () => {
    const child = spawn("sleep", ["60"]);
    const identity = identifyProcess(child.pid ?? 0);
    assert.ok(identity !== undefined && isRunning(identity));
    assert.equal(killProcess({ ...identity, startTime: "1" }), false, "another process's number");
    assert.ok(isRunning(identity));
    const ended = new Promise((resolve) => child.once("exit", resolve));
    assert.equal(killProcess(identity), true);
    await ended;
    assert.equal(isRunning(identity), false);
    assert.equal(killProcess(identity), false);
  });

  it("of an earlier boot count as ended", () => {
    const identity = identifyProcess(process.pid);
    assert.ok(identity !== undefined);
    assert.equal(isRunning({ ...identity, boot: "another" }), false);
  });
});
