import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { ConfigMap, Lease } from "../../../runtime/api/kubernetes";
import { Manager, type RuntimeContext, silentLogger, type Start } from "../../../runtime/kube";
import { untilShutDown } from "../../../runtime/kube/manager/manager";
import { MemoryApiServer } from "../../support/memory-api-server";
import { TestClock } from "../../support/test-clock";
import { until } from "../../support/until";

const LEASE = { namespace: "liqo", name: "test" };
const TIMING = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 };

describe("the end of a process", () => {
  it("leaves no timer behind once all is done, though some of it failed", async () => {
    const clock = new TestClock();
    await untilShutDown({ shutdown: [Promise.resolve(), Promise.reject(new Error("no answer"))], clock });
    assert.deepEqual([clock.waiting, clock.monotonic()], [0, 0]);
  });

  it("does not wait for ever", async () => {
    const clock = new TestClock();
    let ended = false;
    const waiting = untilShutDown({ shutdown: [new Promise(() => undefined)], clock }).then(
      () => (ended = true),
    );
    await clock.advance(4_999);
    assert.equal(ended, false);
    await clock.advance(1);
    await waiting;
    assert.equal(clock.waiting, 0);
  });
});

describe("manager", () => {
  let folder: string;
  let server: MemoryApiServer;
  let clock: TestClock;
  let ending: AbortController;
  let exits: number[];
  let running: Promise<void> | undefined;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "pulumi-liqo-manager-"));
    server = await MemoryApiServer.start();
    await writeFile(join(folder, "kubeconfig"), server.kubeconfig);
    clock = new TestClock();
    ending = new AbortController();
    exits = [];
    running = undefined;
  });
  afterEach(async () => {
    await end();
    await server.close();
    await rm(folder, { recursive: true });
  });

  function run(...starts: Start[]): RuntimeContext {
    const manager = new Manager({
      component: "test",
      kubeconfig: join(folder, "kubeconfig"),
      signal: ending.signal,
      log: silentLogger,
      clock,
      exit: (status) => exits.push(status),
    });
    running = manager.run(starts);
    running.catch(() => undefined);
    return manager.context;
  }

  /** Time goes on while the process ends. */
  async function end(): Promise<void> {
    ending.abort();
    let ended = running === undefined;
    void running?.catch(() => undefined).finally(() => (ended = true));
    await until("the process to end", async () => {
      await clock.advance(100);
      return ended;
    });
  }

  const holder = () =>
    server.list(Lease).find(({ metadata }) => metadata.name === LEASE.name)?.spec?.holderIdentity;

  it("starts its parts one after another", async () => {
    const order: string[] = [];
    run(
      () => Promise.resolve(void order.push("first")),
      () => Promise.resolve(void order.push("second")),
    );
    await until("both parts to start", () => order.length === 2);
    assert.deepEqual(order, ["first", "second"]);
  });

  it("throws what a part throws, and starts none after it", async () => {
    let started = false;
    run(
      () => Promise.reject(new Error("no kernel")),
      () => Promise.resolve(void (started = true)),
    );
    await assert.rejects(running ?? Promise.resolve(), /no kernel/);
    assert.equal(started, false);
  });

  it("gives its leases back before it ends", async () => {
    let led = false;
    run(({ elections }) => {
      elections.lead({ lease: LEASE, identity: "one", ...TIMING }, () => Promise.resolve(void (led = true)));
      return Promise.resolve();
    });
    await until("the term to begin", () => led);
    assert.equal(holder(), "one");
    await end();
    assert.equal(holder(), "");
    assert.deepEqual(exits, []);
  });

  it("ends caches, requests and readiness checks with the term they belong to", async () => {
    const terms: RuntimeContext[] = [];
    const context = run(({ elections }) => {
      elections.lead({ lease: LEASE, identity: "one", ...TIMING }, async (term) => {
        terms.push(term);
        await term.informers.informer(ConfigMap).whenSynced();
      });
      return Promise.resolve();
    });
    const lines = async () => (await context.health.readiness()).lines;
    await until("the caches of the term", async () => (await lines()).includes("[+] caches of the leader"));
    const [first] = terms;
    assert.ok(first !== undefined);
    assert.notEqual(first.informers, context.informers);

    // Somebody else takes the lease: the next renewal is a conflict.
    server.change(Lease, "liqo/test", { spec: { holderIdentity: "two" } });
    await until("the term to end", async () => {
      await clock.advance(500);
      return first.signal.aborted;
    });
    assert.deepEqual(await lines(), ["[+] caches"]);
    assert.throws(() => first.informers.informer(ConfigMap), /the informers were stopped/);
    await assert.rejects(first.client.list(ConfigMap), /not sent, because this process no longer leads/);
    assert.equal(context.signal.aborted, false);
    assert.deepEqual(await context.client.list(ConfigMap), []);

    // The other one dies, and the next term starts clean.
    await until("the next term", async () => {
      await clock.advance(1_000);
      return terms.length === 2;
    });
    assert.notEqual(terms[1]?.informers, first.informers);
    assert.equal(terms[1]?.signal.aborted, false);
  });

  it("has a readiness check of its own for each leader", async () => {
    const context = run(({ elections }) => {
      for (const lease of [LEASE, { ...LEASE, name: "other" }]) {
        elections.lead({ lease, identity: "one", ...TIMING }, () => Promise.resolve());
      }
      return Promise.resolve();
    });
    const lines = async () => (await context.health.readiness()).lines;
    await until("both terms to begin", async () => (await lines()).length === 3);
    assert.deepEqual((await lines()).sort(), [
      "[+] caches",
      "[+] caches of the leader",
      `[+] caches of the leader (${LEASE.namespace}/other)`,
    ]);
  });

  it("ends the process where a term cannot begin", async () => {
    run(({ elections }) => {
      elections.lead({ lease: LEASE, identity: "one", ...TIMING }, () =>
        Promise.reject(new Error("no rights")),
      );
      return Promise.resolve();
    });
    await until("the end of the process", () => exits.length > 0);
    assert.deepEqual(exits, [1]);
  });

  it("lets a candidate withdraw, and its lease with it", async () => {
    const withdrawn = new AbortController();
    const context = run();
    const candidate = context.elections.stand({
      lease: LEASE,
      identity: "one",
      ...TIMING,
      onElected: () => undefined,
      until: withdrawn.signal,
    });
    await until("the candidate to lead", () => candidate.isLeader);
    assert.equal(candidate.holder, "one");
    withdrawn.abort();
    await candidate.ended;
    assert.equal(holder(), "");
    assert.equal(context.shutdown.size, 0);
  });
});
