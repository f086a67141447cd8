import assert from "node:assert/strict";

import { Registry } from "prom-client";

import {
  createLogger,
  type Outcome,
  type ReconcileRun,
  runController,
  type Source,
  Terminal,
} from "../../../runtime/kube";
import { TestClock } from "../../support/test-clock";

class HandSource implements Source {
  enqueue: (key: string) => void = () => undefined;
  ended = false;
  sync: () => void = () => undefined;
  private readonly synced = new Promise<void>((resolve) => (this.sync = resolve));

  start(enqueue: (key: string) => void): () => void {
    this.enqueue = enqueue;
    return () => (this.ended = true);
  }

  whenSynced(): Promise<void> {
    return this.synced;
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

function start(reconcile: (key: string, run: ReconcileRun) => Promise<Outcome>, workers = 2) {
  const clock = new TestClock();
  const ending = new AbortController();
  const metrics = new Registry();
  const source = new HandSource();
  let text = "";
  const log = createLogger({ level: "debug", destination: { write: (line: string) => (text += line) } });
  const controller = runController(
    { name: "tenant", workers, sources: [source], reconcile },
    { log, clock, signal: ending.signal, metrics },
  );
  const lines = () =>
    text
      .trim()
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { controller, clock, ending, metrics, source, lines };
}

describe("controller", () => {
  it("begins when its sources have synced, and works each key once however often it was told", async () => {
    const seen: string[] = [];
    const { source, controller } = start((key) => {
      seen.push(key);
      return Promise.resolve();
    });
    for (const key of ["a", "b", "a"]) source.enqueue(key);
    await turn();
    assert.deepEqual([seen, controller.started], [[], false]);
    source.sync();
    await turn();
    assert.deepEqual([seen, controller.started, controller.idle], [["a", "b"], true, true]);
  });

  it("begins no reconcile while whoever brought the key is still telling", async () => {
    let told = "nothing";
    const seen: string[] = [];
    const { source } = start((key) => {
      seen.push(`${key} saw ${told}`);
      return Promise.resolve();
    });
    source.sync();
    await turn();
    told = "half";
    source.enqueue("a");
    source.enqueue("b");
    told = "all";
    await turn();
    assert.deepEqual(seen, ["a saw all", "b saw all"]);
  });

  it("has everything that is logged on behalf of a reconcile say so, and nothing that outlives it", async () => {
    let text = "";
    const elsewhere = createLogger({ destination: { write: (line: string) => (text += line) } });
    let finish: () => void = () => undefined;
    const { source, lines } = start(async (key, { log }) => {
      log.info("begun");
      await Promise.resolve();
      elsewhere.info("asked", { about: key });
      void new Promise<void>((resolve) => (finish = resolve)).then(() => elsewhere.info("left running"));
    });
    source.sync();
    source.enqueue("a");
    await turn();
    finish();
    await turn();
    const [begun] = lines();
    const [asked, left] = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.match(String(begun?.reconcileID), /^[0-9a-f]{8}-\d+$/);
    assert.deepEqual(
      [asked?.controller, asked?.key, asked?.reconcileID],
      ["tenant", "a", begun?.reconcileID],
    );
    assert.deepEqual([left?.message, left?.reconcileID], ["left running", undefined]);
  });

  it("works on several keys at a time, never on one twice", async () => {
    const running = new Set<string>();
    const finish = new Map<string, () => void>();
    let most = 0;
    const { source } = start((key) => {
      assert.ok(!running.has(key));
      running.add(key);
      most = Math.max(most, running.size);
      return new Promise<void>((resolve) => finish.set(key, resolve)).finally(() => running.delete(key));
    });
    source.sync();
    await turn();
    for (const key of ["a", "b", "c", "a"]) source.enqueue(key);
    await turn();
    assert.deepEqual([...running], ["a", "b"]);
    finish.get("b")?.();
    await turn();
    assert.deepEqual([...running], ["a", "c"]);
    source.enqueue("a");
    finish.get("a")?.();
    await turn();
    assert.deepEqual([...running].sort(), ["a", "c"]);
    assert.equal(most, 2);
  });

  it("retries with the key's back-off, and counts", async () => {
    const failures: number[] = [];
    const { source, clock, metrics, lines } = start((key, run) => {
      failures.push(run.failures);
      return failures.length < 4 ? Promise.reject(new Error(`no luck with ${key}`)) : Promise.resolve();
    });
    source.sync();
    source.enqueue("a");
    await turn();
    assert.deepEqual(failures, [0]);
    await clock.advance(5);
    assert.deepEqual(failures, [0, 1]);
    await clock.advance(1_000);
    assert.deepEqual(failures, [0, 1, 2, 3]);
    await clock.advance(60_000);
    assert.equal(failures.length, 4);
    const text = await metrics.metrics();
    for (const line of [
      'controller_runtime_reconcile_total{controller="tenant",result="error"} 3',
      'controller_runtime_reconcile_total{controller="tenant",result="success"} 1',
      'controller_runtime_reconcile_errors_total{controller="tenant"} 3',
      'controller_runtime_terminal_reconcile_errors_total{controller="tenant"} 0',
      'controller_runtime_reconcile_time_seconds_count{controller="tenant"} 4',
      'controller_runtime_active_workers{controller="tenant"} 0',
      'controller_runtime_max_concurrent_reconciles{controller="tenant"} 2',
      'workqueue_depth{name="tenant"} 0',
      'workqueue_adds_total{name="tenant"} 4',
      'workqueue_retries_total{name="tenant"} 3',
      'workqueue_queue_duration_seconds_count{name="tenant"} 4',
    ]) {
      assert.ok(text.split("\n").includes(line), line);
    }
    const runs = new Set(lines().map(({ reconcileID }) => reconcileID));
    assert.equal(runs.size, 3, "each reconcile has an id of its own");
    assert.ok(lines().every((line) => line.key === "a" && line.controller === "tenant"));
  });

  it("tells how long what it works on has taken", async () => {
    const ends: (() => void)[] = [];
    const { source, clock, metrics } = start(() => new Promise<void>((resolve) => ends.push(resolve)));
    const seconds = async (name: string) => {
      const text = await metrics.metrics();
      return Number(
        text
          .split("\n")
          .find((line) => line.startsWith(`${name}{name="tenant"} `))
          ?.split(" ")[1],
      );
    };
    const both = () =>
      Promise.all([
        seconds("workqueue_unfinished_work_seconds"),
        seconds("workqueue_longest_running_processor_seconds"),
      ]);
    source.sync();
    source.enqueue("a");
    await clock.advance(3_000);
    source.enqueue("b");
    await clock.advance(2_000);
    assert.deepEqual(await both(), [7, 5]);
    for (const end of ends) end();
    await turn();
    assert.deepEqual(await both(), [0, 0]);
  });

  it("comes back when asked to, and does not when a human must act", async () => {
    let count = 0;
    const { source, clock } = start((key) => {
      count += 1;
      if (key === "stalled")
        return Promise.reject(new Terminal("InvalidClass", "class gold does not exist; use default"));
      return Promise.resolve({ requeueAfterMs: 10_000 });
    });
    source.sync();
    source.enqueue("stalled");
    await clock.advance(3_600_000);
    assert.equal(count, 1);
    source.enqueue("periodic");
    await clock.advance(25_000);
    assert.equal(count, 4);
  });

  it("ends with its signal: sources are left, running reconciles are told and waited for", async () => {
    let aborted = false;
    const { source, controller, ending } = start(
      (_key, { signal }) =>
        new Promise<void>((resolve) =>
          signal.addEventListener("abort", () => {
            aborted = true;
            resolve();
          }),
        ),
    );
    source.sync();
    source.enqueue("a");
    await turn();
    ending.abort();
    await controller.stop();
    source.enqueue("b");
    await turn();
    assert.deepEqual([aborted, source.ended, controller.idle], [true, true, true]);
  });
});
