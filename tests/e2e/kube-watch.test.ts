import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { request as httpsRequest } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { Registry } from "prom-client";
import { z } from "zod";

import { ConfigMap, Event, Namespace } from "../../runtime/api/kubernetes";
import type { KubeObject } from "../../runtime/api/meta";
import { type Informer, InformerSet, keyOf, KubeClient } from "../../runtime/kube";
import { editKubeconfig, userPem } from "../support/kubeconfig-edit";
import { TcpProxy } from "../support/tcp-proxy";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function configMap(
  namespace: string,
  name: string,
  data: Record<string, string>,
  labels?: Record<string, string>,
) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace, labels }, data } as const;
}

/** What the events alone tell, and what is wrong with their order. */
class Witness<T extends KubeObject> {
  readonly present = new Map<string, T>();
  readonly deletedUids = new Set<string>();
  readonly faults: string[] = [];
  /** Events so far. */
  told = 0;

  constructor(informer: Informer<T>) {
    informer.on({
      added: (object) => {
        this.told += 1;
        if (this.present.has(keyOf(object))) this.faults.push(`added twice: ${keyOf(object)}`);
        this.present.set(keyOf(object), object);
      },
      updated: (before, after) => {
        this.told += 1;
        const known = this.present.get(keyOf(after));
        if (known !== before) this.faults.push(`updated from an unknown state: ${keyOf(after)}`);
        if (Number(after.metadata.resourceVersion) <= Number(before.metadata.resourceVersion)) {
          this.faults.push(`went back in time: ${keyOf(after)}`);
        }
        this.present.set(keyOf(after), after);
      },
      deleted: (object) => {
        this.told += 1;
        if (!this.present.delete(keyOf(object))) this.faults.push(`deleted twice: ${keyOf(object)}`);
        this.deletedUids.add(object.metadata.uid ?? "");
      },
    });
  }

  presentUids(): Set<string> {
    return new Set([...this.present.values()].map(({ metadata }) => metadata.uid ?? ""));
  }
}

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

function versions(objects: Iterable<KubeObject>): string[] {
  return [...objects]
    .map((object) => `${keyOf(object)} ${object.metadata.uid} ${object.metadata.resourceVersion}`)
    .sort();
}

describe("informers", function () {
  this.timeout(90_000);
  const controlPlane = withControlPlanes({ rome: {} });
  let client: KubeClient;
  const ending: (() => Promise<void> | void)[] = [];
  before(async () => {
    client = KubeClient.fromKubeconfig(controlPlane("rome").kubeconfig);
    for (const name of ["rome-apps", "rome-batch", "rome-load", "rome-many", "rome-pages"]) {
      await client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    }
  });
  afterEach(async () => {
    for (const end of ending.splice(0).reverse()) await end();
  });
  after(() => client.close());

  /** Informers on a connection that the test can break. */
  async function behindProxy(options: { heartbeatMs?: number } = {}) {
    const { hostname, port } = new URL(controlPlane("rome").url);
    const proxy = await TcpProxy.start({ host: hostname, port: Number(port) });
    const server = { server: `https://127.0.0.1:${proxy.port}` };
    const broken = KubeClient.fromKubeconfig(
      editKubeconfig(controlPlane("rome").kubeconfig, server),
      options,
    );
    const metrics = new Registry();
    const informers = new InformerSet(broken, { metrics });
    ending.push(
      () => proxy.close(),
      () => broken.close(),
      () => informers.stop(),
    );
    const restarts = async (kind: string, reason: string) => {
      const counter = await metrics.getSingleMetric("liqo_kube_watch_restarts_total")?.get();
      return (
        counter?.values.find(({ labels }) => labels.kind === kind && labels.reason === reason)?.value ?? 0
      );
    };
    return { proxy, informers, restarts };
  }

  function direct(): InformerSet {
    const informers = new InformerSet(client);
    ending.push(() => informers.stop());
    return informers;
  }

  async function agrees(
    informer: Informer<ConfigMap>,
    witness: Witness<ConfigMap>,
    namespace: string,
  ): Promise<void> {
    await until("the cache agrees with the API server", async () => {
      const truth = versions(await client.list(ConfigMap, { namespace }));
      return versions(informer.list()).join("\n") === truth.join("\n");
    });
    assert.deepEqual(versions(witness.present.values()), versions(informer.list()));
    assert.deepEqual(witness.faults, []);
  }

  it("follows a selection, keeps what is projected, and indexes it", async () => {
    await client.create(ConfigMap, configMap("rome-apps", "one", { a: "1" }, { app: "web" }));
    await client.create(ConfigMap, configMap("rome-apps", "other", { a: "1" }, { app: "db" }));
    const informers = direct();
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
    const { proxy, informers } = await behindProxy();
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
    const informer = direct().informer(ConfigMap, { namespace: "rome-batch" });
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
        const { proxy, informers } = await behindProxy();
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
      await agrees(informer, witness, namespace);
      for (const uid of load.deleted)
        assert.ok(!witness.presentUids().has(uid), `${uid} is deleted and still told as present`);
    }
    assert.ok(load.writes > 300, `only ${load.writes} writes`);
    assert.ok(load.deleted.size > 50, `only ${load.deleted.size} deletions`);
  });

  it("notices a connection that is open and dead", async () => {
    const { proxy, informers } = await behindProxy({ heartbeatMs: 1_000 });
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
    await agrees(informer, witness, "rome-batch");
  });

  it("lists again when the history is gone in the middle of a watch, and tells what was deleted meanwhile", async () => {
    const { proxy, informers, restarts } = await behindProxy();
    const event = (name: string) =>
      ({
        apiVersion: "v1",
        kind: "Event",
        metadata: { name, namespace: "rome-apps" },
        involvedObject: { kind: "Namespace", name: "rome-apps", namespace: "rome-apps" },
        reason: "Tested",
        message: name,
        type: "Normal",
      }) as const;
    // The API server keeps no cache of events: these watches read etcd itself, and its compaction is theirs.
    const informer = informers.informer(Event, { namespace: "rome-apps" });
    const witness = new Witness(informer);
    await client.create(Event, event("stays"));
    await client.create(Event, event("goes"));
    await informer.whenSynced();
    await until("both", () => informer.size === 2);
    proxy.refuse();
    proxy.cut();
    await client.delete(Event, { name: "goes", namespace: "rome-apps" });
    await client.create(Event, event("comes"));
    await compactEtcd(controlPlane("rome").pids().etcd ?? 0);
    proxy.allow();
    await until("the relist", () => informer.get("comes", "rome-apps"));
    assert.deepEqual([...witness.present.keys()].sort(), ["rome-apps/comes", "rome-apps/stays"]);
    assert.deepEqual([witness.faults, witness.deletedUids.size], [[], 1]);
    assert.equal(await restarts("Event", "gone"), 1);
    await client.create(Event, event("later"));
    await until("the watch after it", () => informer.get("later", "rome-apps"));
  });

  it("is right again after a restart of the API server", async () => {
    const informers = direct();
    const informer = informers.informer(ConfigMap, { namespace: "rome-apps" });
    const witness = new Witness(informer);
    await informer.whenSynced();
    await controlPlane("rome").restartApiServer();
    await client.create(ConfigMap, configMap("rome-apps", "after-restart", {}));
    await client.delete(ConfigMap, { name: "other", namespace: "rome-apps" });
    await agrees(informer, witness, "rome-apps");
    assert.equal(informer.problem, undefined);
  });

  describe("with a server that has no streaming lists", () => {
    it("lists in pages, and never takes a failed list for an empty one", async () => {
      const plane = controlPlane("rome");
      const pem = (field: string) => userPem(plane.kubeconfig, field);
      const lists: string[] = [];
      let failing = false;
      const front = createServer((incoming, outgoing) => {
        const url = new URL(incoming.url ?? "/", plane.url);
        if (url.searchParams.has("sendInitialEvents")) {
          outgoing.writeHead(422, { "content-type": "application/json" }).end("{}");
          return;
        }
        if (!url.searchParams.has("watch"))
          lists.push(url.searchParams.get("continue") === null ? "first" : "next");
        if (failing && url.searchParams.has("continue")) {
          outgoing.writeHead(500).end();
          return;
        }
        if (failing && url.searchParams.has("watch")) {
          const expired = {
            kind: "Status",
            code: 410,
            reason: "Expired",
            message: "too old resource version",
          };
          outgoing.writeHead(410, { "content-type": "application/json" }).end(JSON.stringify(expired));
          return;
        }
        const forwarded = httpsRequest(url, {
          method: incoming.method,
          headers: { ...incoming.headers, host: url.host },
          ca: plane.caCertificate,
          cert: pem("client-certificate-data"),
          key: pem("client-key-data"),
        });
        forwarded.on("response", (response) => {
          outgoing.writeHead(response.statusCode ?? 500, response.headers);
          outgoing.flushHeaders();
          response.pipe(outgoing);
        });
        forwarded.on("error", () => outgoing.destroy());
        outgoing.on("close", () => forwarded.destroy());
        incoming.pipe(forwarded);
      });
      const port = await listen(front);
      const server = { server: `http://127.0.0.1:${port}` };
      const old = KubeClient.fromKubeconfig(editKubeconfig(plane.kubeconfig, server, {}));
      const informers = new InformerSet(old);
      ending.push(
        () => void front.close().closeAllConnections(),
        () => old.close(),
        () => informers.stop(),
      );
      await createMany(client, "rome-pages", 1_100);
      const informer = informers.informer(ConfigMap, { namespace: "rome-pages" });
      const witness = new Witness(informer);
      await informer.whenSynced();
      assert.deepEqual(lists, ["first", "next", "next"]);
      assert.equal(informer.size, 1_100);
      await client.delete(ConfigMap, { name: "many-7", namespace: "rome-pages" });
      await until("the deletion", () => informer.size === 1_099);
      // Now its history is gone, and the list breaks off in the middle.
      failing = true;
      front.closeAllConnections();
      await client.delete(ConfigMap, { name: "many-8", namespace: "rome-pages" });
      await pause(2_500);
      assert.ok(lists.length > 4, "no list broke off");
      assert.ok(informer.size >= 1_098);
      failing = false;
      await agrees(informer, witness, "rome-pages");
      assert.equal(informer.size, 1_098);
    });
  });

  it("holds 10,000 objects in bounded memory", async () => {
    await fillEtcd(controlPlane("rome").pids().etcd ?? 0, "rome-many", 10_000);
    // In a process of its own, since the memory of this one is full of the tests before.
    const child = fork(join(__dirname, "../support/informer-memory.js"), ["rome-many"], {
      execArgv: ["--expose-gc"],
      stdio: ["pipe", "inherit", "inherit", "ipc"],
    });
    child.stdin?.end(controlPlane("rome").kubeconfig);
    const [message] = (await once(child, "message")) as [unknown];
    const { objects, heap, resident, lists } = InformerMemory.parse(message);
    const mega = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
    console.log(
      `      10,000 objects: heap +${mega(heap)}, resident +${mega(resident)} at the most; paged: +${mega(lists)}`,
    );
    assert.equal(objects, 10_000);
    assert.ok(heap < 25e6, `the heap grew by ${mega(heap)}`);
    assert.ok(resident < 80e6, `resident memory grew by ${mega(resident)}`);
    assert.ok(lists < 60e6, `resident memory grew by ${mega(lists)} while listing page by page`);
  });
});

const InformerMemory = z.object({
  objects: z.number(),
  heap: z.number(),
  resident: z.number(),
  lists: z.number(),
});

/** Creates ConfigMaps `many-0`, `many-1`, … through the API server. */
async function createMany(client: KubeClient, namespace: string, count: number): Promise<void> {
  let next = 0;
  const create = async () => {
    while (next < count)
      await client.create(ConfigMap, configMap(namespace, `many-${next++}`, { value: "x".repeat(300) }));
  };
  await Promise.all(Array.from({ length: 50 }, create));
}

/** Puts ConfigMaps of 2 kB into etcd as they look after a few writers, in the API server's own form: 10,000 creates would take half a minute. */
async function fillEtcd(pid: number, namespace: string, count: number): Promise<void> {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const managedFields = ["liqo", "kubectl"].map((manager) => ({
    manager,
    operation: "Update",
    apiVersion: "v1",
    time: "2024-01-02T03:04:05Z",
    fieldsType: "FieldsV1",
    fieldsV1: { "f:data": Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`f:field-${i}`, {}])) },
  }));
  const put = (i: number) => {
    const metadata = {
      name: `many-${i}`,
      namespace,
      uid: randomUUID(),
      creationTimestamp: "2024-01-02T03:04:05Z",
      labels: { app: "many", part: String(i % 10) },
      managedFields,
    };
    const data = Object.fromEntries(
      Array.from({ length: 12 }, (_, field) => [`field-${field}`, `${i} `.repeat(16)]),
    );
    const object = { kind: "ConfigMap", apiVersion: "v1", metadata, data };
    const key = base64(`/registry/configmaps/${namespace}/many-${i}`);
    return { requestPut: { key, value: base64(JSON.stringify(object)) } };
  };
  for (let i = 0; i < count; i += 100) {
    await etcd(pid, "/v3/kv/txn", {
      success: Array.from({ length: Math.min(100, count - i) }, (_, j) => put(i + j)),
    });
  }
}

/** Forgets all history of an etcd, through the gateway on its client address. */
async function compactEtcd(pid: number): Promise<void> {
  const revision = await etcd(pid, "/v3/kv/range", { key: Buffer.from("a").toString("base64") });
  await etcd(pid, "/v3/kv/compaction", { revision, physical: true });
}

/** A request to the gateway of an etcd. Returns its revision. */
async function etcd(pid: number, path: string, body: unknown): Promise<string> {
  const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  const url = words.find((word) => word.startsWith("--listen-client-urls="))?.split("=")[1] ?? "";
  const response = await fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body) });
  assert.equal(response.status, 200, await response.clone().text());
  return z.object({ header: z.object({ revision: z.string() }) }).parse(await response.json()).header
    .revision;
}

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}
