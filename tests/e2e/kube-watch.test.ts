import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

import { ConfigMap } from "../../runtime/api/kubernetes";
import { keyOf, type KubeClient } from "../../runtime/kube";
import { configMap } from "../support/config-map";
import { Witness } from "../support/informer-witness";
import { until } from "../support/until";
import { WatchedCluster } from "../support/watched-cluster";

/** Writers that create, change and delete ConfigMaps as fast as they are let. */
class Load {
  writes = 0;
  readonly deleted = new Set<string>();
  private running = true;
  private readonly writers: Promise<void>[];

  constructor(
    private readonly client: KubeClient,
    private readonly namespace: string,
    writers: number,
  ) {
    this.writers = Array.from({ length: writers }, (_, writer) => this.write(writer));
  }

  async stop(): Promise<void> {
    this.running = false;
    await Promise.all(this.writers);
  }

  private async write(writer: number): Promise<void> {
    const { client, namespace } = this;
    const there = new Map<string, string>();
    for (let turn = 0; this.running; turn++) {
      const name = `w${writer}-${Math.floor(Math.random() * 30)}`;
      const uid = there.get(name);
      if (uid === undefined) {
        const created = await client.create(ConfigMap, configMap(namespace, name, { turn: "0" }));
        there.set(name, created.metadata.uid ?? "");
      } else if (Math.random() < 0.5) {
        await client.patch(
          ConfigMap,
          { name, namespace },
          { data: { turn: String(turn) } },
          { type: "merge" },
        );
      } else {
        await client.delete(ConfigMap, { name, namespace }, { uid });
        there.delete(name);
        this.deleted.add(uid);
      }
      this.writes += 1;
      await pause(10);
    }
  }
}

describe("informers", function () {
  this.timeout(90_000);
  const rome = WatchedCluster.forSuite(["rome-apps", "rome-batch", "rome-load"]);
  let client: KubeClient;
  before(() => {
    ({ client } = rome());
  });

  it("follows a selection, keeps what is projected, and indexes it", async () => {
    await client.create(ConfigMap, configMap("rome-apps", "one", { a: "1" }, { app: "web" }));
    await client.create(ConfigMap, configMap("rome-apps", "other", { a: "1" }, { app: "db" }));
    const informers = rome().direct();
    const slim = ({ apiVersion, kind, metadata, data }: ConfigMap): ConfigMap => ({
      apiVersion,
      kind,
      metadata,
      data: { keys: Object.keys(data ?? {}).join() },
    });
    const informer = informers.informer(ConfigMap, {
      namespace: "rome-apps",
      labelSelector: "app=web",
      project: slim,
    });
    informer.addIndex("keys", (object) => [object.data?.keys ?? ""]);
    await informer.whenSynced();
    assert.deepEqual(
      informer.list().map(({ metadata: { name } }) => name),
      ["one"],
    );
    const witness = new Witness(informer);
    await client.create(ConfigMap, configMap("rome-apps", "two", { b: "1", c: "2" }, { app: "web" }));
    await until("two", () => informer.get("two", "rome-apps"));
    assert.deepEqual(informer.byIndex("keys", "b,c").map(keyOf), ["rome-apps/two"]);
    assert.throws(() => informer.byIndex("names", "one"), /no index names; it has: keys/);
    assert.equal(informer.get("two", "rome-apps")?.metadata.managedFields, undefined);
    // An object that leaves the selection is gone, for us.
    await client.patch(
      ConfigMap,
      { name: "two", namespace: "rome-apps" },
      { metadata: { labels: { app: "x" } } },
      { type: "merge" },
    );
    await until("two is gone", () => informer.get("two", "rome-apps") === undefined);
    assert.deepEqual(informer.byIndex("keys", "b,c"), []);
    assert.deepEqual([witness.faults, [...witness.present.keys()]], [[], ["rome-apps/one"]]);
  });

  it("shares one watch among its users, and ends it with the last", async () => {
    const { proxy, informers } = await rome().behindProxy();
    const first = informers.informer(ConfigMap, { namespace: "rome-apps" });
    const second = informers.informer(ConfigMap, { namespace: "rome-apps" });
    await Promise.all([first.whenSynced(), second.whenSynced()]);
    assert.equal(first.get("one", "rome-apps"), second.get("one", "rome-apps"));
    let toldFirst = 0;
    let toldSecond = 0;
    first.on({ added: () => (toldFirst += 1) });
    second.on({ added: () => (toldSecond += 1) });
    const before = toldFirst;
    first.release();
    first.release();
    await client.create(ConfigMap, configMap("rome-apps", "after-release", {}));
    await until("the second user is told", () => toldSecond === before + 1);
    assert.equal(toldFirst, before);
    assert.equal(proxy.connections, 1);
    second.release();
    assert.deepEqual(informers.problems(), []);
    const third = informers.informer(ConfigMap, { namespace: "rome-apps" });
    assert.equal(third.synced, false);
    await third.whenSynced();
  });

  it("goes on when a handler throws", async () => {
    const informer = rome().direct().informer(ConfigMap, { namespace: "rome-batch" });
    await informer.whenSynced();
    const seen: string[] = [];
    informer.on({
      added: () => {
        throw new Error("a fault of this handler");
      },
    });
    informer.on({ added: (object) => seen.push(object.metadata.name) });
    await client.create(ConfigMap, configMap("rome-batch", "a", {}));
    await client.create(ConfigMap, configMap("rome-batch", "b", {}));
    await until("both are told", () => seen.join() === "a,b");
  });

  it("misses nothing over 200 cuts of its connections under load", async () => {
    const namespace = "rome-load";
    const watchers = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const { proxy, informers } = await rome().behindProxy();
        const informer = informers.informer(ConfigMap, { namespace });
        const witness = new Witness(informer);
        await informer.whenSynced();
        return { proxy, informer, witness };
      }),
    );
    const load = new Load(client, namespace, 4);
    await Promise.all(
      watchers.map(async ({ proxy, witness }) => {
        for (let cuts = 0; cuts < 50;) {
          // Most cuts hit a stream of events, some a connection that is just being made.
          const told = witness.told;
          const wanted = () => (cuts % 5 === 0 ? proxy.connections > 0 : witness.told > told);
          await until("a connection to cut", wanted, { everyMs: 2, timeoutMs: 30_000 });
          await pause(Math.random() * 50);
          if (proxy.cut() > 0) cuts += 1;
        }
      }),
    );
    await load.stop();
    for (const { informer, witness } of watchers) {
      await rome().agrees(informer, witness, namespace);
      for (const uid of load.deleted)
        assert.ok(!witness.presentUids().has(uid), `${uid} is deleted and still told as present`);
    }
    assert.ok(load.writes > 300, `only ${load.writes} writes`);
    assert.ok(load.deleted.size > 50, `only ${load.deleted.size} deletions`);
  });

  it("notices a connection that is open and dead", async () => {
    const { proxy, informers } = await rome().behindProxy({ heartbeatMs: 1_000 });
    const informer = informers.informer(ConfigMap, { namespace: "rome-batch" });
    const witness = new Witness(informer);
    await informer.whenSynced();
    proxy.freezeOpen();
    await client.create(ConfigMap, configMap("rome-batch", "while-dead", {}));
    await client.delete(ConfigMap, { name: "a", namespace: "rome-batch" });
    const begin = performance.now();
    await until("the event that the dead connection swallowed", () =>
      informer.get("while-dead", "rome-batch"),
    );
    assert.ok(performance.now() - begin < 8_000);
    await rome().agrees(informer, witness, "rome-batch");
  });

  it("is right again after a restart of the API server", async () => {
    const informers = rome().direct();
    const informer = informers.informer(ConfigMap, { namespace: "rome-apps" });
    const witness = new Witness(informer);
    await informer.whenSynced();
    await rome().controlPlane.restartApiServer();
    await client.create(ConfigMap, configMap("rome-apps", "after-restart", {}));
    await client.delete(ConfigMap, { name: "other", namespace: "rome-apps" });
    await rome().agrees(informer, witness, "rome-apps");
    assert.equal(informer.problem, undefined);
  });
});
