import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { obtainTools } from "../../../provider/local-cluster/toolchain";
import type { Tool } from "../../../provider/local-cluster/toolchain/tool";
import { ToolPlan } from "../../../provider/local-cluster/toolchain/tool-plan";
import { prepare, sideBySide, type PreparationSteps } from "../../../scripts/quick-start/preparation";

describe("what npm start prepares", () => {
  let folder: string;
  const cache = process.env["PULUMI_LIQO_CACHE"];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "preparation-test-"));
    process.env["PULUMI_LIQO_CACHE"] = join(folder, "cache");
  });
  afterEach(() => {
    if (cache === undefined) delete process.env["PULUMI_LIQO_CACHE"];
    else process.env["PULUMI_LIQO_CACHE"] = cache;
    rmSync(folder, { recursive: true, force: true });
  });

  /** A tool that takes a moment to build. */
  const tool = (name: string, source = 'package main\n\nfunc main() { println("here") }\n'): Tool => {
    const module = join(folder, name);
    mkdirSync(module);
    writeFileSync(join(module, "go.mod"), `module example.com/${name}\n\ngo 1.22\n`);
    writeFileSync(join(module, "main.go"), source);
    return { name, version: "7.8.9", binaries: [name], build: { module, minutes: 2 } };
  };
  const environment = { ...process.env, PULUMI_LIQO_TOOLS: "" };

  /** Steps that make tools of these; the clusters take as long as the engine takes to begin. */
  const stepsWith = (events: string[], cluster: Tool, engine: Tool): PreparationSteps<string, string> => {
    const plan = new ToolPlan([cluster, engine]);
    const options = { environment, plan, progress: (line: string) => events.push(line) };
    return {
      clusterTools: async (signal) => void (await obtainTools([cluster], { ...options, signal })),
      images: () => Promise.resolve("archive"),
      clusters: (images) => {
        events.push(`clusters start with ${images}`);
        return Promise.resolve();
      },
      engine: async (signal) => (await obtainTools([engine], { ...options, signal })).of(engine.name),
    };
  };

  it("builds the tools in order under one count, and starts the clusters while the engine is built", async function () {
    this.timeout(120_000);
    const events: string[] = [];
    const engine = await prepare(
      stepsWith(events, tool("pier"), tool("ferry")),
      new AbortController().signal,
    );
    assert.match(engine, /ferry-7\.8\.9-[0-9a-f]{12}\/bin\/ferry$/);
    assert.deepEqual(
      events.map((line) => line.replace(/done in \d+ s/, "done").replace(/about \d+ min left$/, "…")),
      [
        "pier 7.8.9 (1 of 2): building from its Go module: about 2 min left, 4 min for all tools",
        "pier 7.8.9 (1 of 2): building from its Go module: done",
        "clusters start with archive",
        "ferry 7.8.9 (2 of 2): building from its Go module: …",
        "ferry 7.8.9 (2 of 2): building from its Go module: done",
      ],
    );
  });

  it("ends the clusters when the engine cannot be built, and tells why", async function () {
    this.timeout(120_000);
    const events: string[] = [];
    const steps = stepsWith(
      events,
      tool("pier"),
      tool("ferry", "package main\n\nfunc main() { nothing() }\n"),
    );
    steps.clusters = async (_, signal) => {
      await sleep(60_000, undefined, { signal }).catch(() => events.push("clusters ended"));
      signal.throwIfAborted();
    };
    await assert.rejects(
      prepare(steps, new AbortController().signal),
      /building ferry 7\.8\.9 failed: .*undefined: nothing/s,
    );
    assert.equal(events.at(-1), "clusters ended");
  });

  it("ends a build when the clusters fail, and leaves nothing half made", async function () {
    this.timeout(120_000);
    const go = join(folder, "path", "go");
    mkdirSync(join(folder, "path"));
    writeFileSync(go, '#!/bin/sh\n[ "$1" = build ] && touch "$0.began" && exec sleep 60\n', { mode: 0o755 });
    const [pier, ferry] = [tool("pier"), tool("ferry")];
    const steps = stepsWith([], pier, ferry);
    const slow = { ...environment, PATH: `${join(folder, "path")}:/usr/bin:/bin` };
    steps.engine = async (signal) => (await obtainTools([ferry], { environment: slow, signal })).of("ferry");
    steps.clusters = async () => {
      while (!existsSync(`${go}.began`)) await sleep(10);
      throw new Error("no memory for milan");
    };
    const begin = performance.now();
    await assert.rejects(prepare(steps, new AbortController().signal), /^Error: no memory for milan$/);
    assert.ok(performance.now() - begin < 50_000);
    const left = readdirSync(join(folder, "cache", "tools"));
    assert.deepEqual(
      left.map((name) => name.replace(/[0-9a-f]{12}/, "…")),
      ["pier-7.8.9-…"],
    );
  });

  it("ends everything when it is interrupted, and waits until all has ended", async () => {
    const interrupted = new AbortController();
    const ends: string[] = [];
    const work = (name: string, ms: number) => async (signal: AbortSignal) => {
      await sleep(60_000, undefined, { signal }).catch(() => undefined);
      await sleep(ms); // what it takes to end in order
      ends.push(name);
      signal.throwIfAborted();
    };
    setTimeout(() => interrupted.abort(new Error("stopped by SIGINT")), 20);
    await assert.rejects(
      sideBySide(interrupted.signal, work("engine", 5), work("rome", 60), work("milan", 30)),
      /stopped by SIGINT/,
    );
    assert.deepEqual(ends, ["engine", "milan", "rome"]);
  });

  it("begins nothing further when it is interrupted between steps", async () => {
    const interrupted = new AbortController();
    const begun: string[] = [];
    const step = (name: string) => () => {
      begun.push(name);
      if (name === "images") interrupted.abort(new Error("stopped by SIGTERM"));
      return Promise.resolve();
    };
    const steps: PreparationSteps<void, void> = {
      clusterTools: step("tools"),
      images: step("images"),
      clusters: step("clusters"),
      engine: step("engine"),
    };
    await assert.rejects(prepare(steps, interrupted.signal), /stopped by SIGTERM/);
    assert.deepEqual(begun, ["tools", "images"]);
  });
});
