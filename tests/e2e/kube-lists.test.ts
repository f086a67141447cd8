import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { z } from "zod";

import { ConfigMap, Event } from "../../runtime/api/kubernetes";
import { InformerSet, KubeClient } from "../../runtime/kube";
import { forward } from "../support/api-forwarding";
import { configMap } from "../support/config-map";
import { compactEtcd, fillEtcd } from "../support/etcd";
import { Witness } from "../support/informer-witness";
import { editKubeconfig } from "../support/kubeconfig-edit";
import { listen } from "../support/listen";
import { until } from "../support/until";
import { WatchedCluster } from "../support/watched-cluster";

describe("informers that have to list", function () {
  this.timeout(90_000);
  const rome = WatchedCluster.forSuite(["rome-apps", "rome-many", "rome-pages"]);
  let client: KubeClient;
  before(() => {
    ({ client } = rome());
  });

  it("lists again when the history is gone in the middle of a watch, and tells what was deleted meanwhile", async () => {
    const { proxy, informers, restarts } = await rome().behindProxy();
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
    await compactEtcd(rome().controlPlane.pids().etcd ?? 0);
    proxy.allow();
    await until("the relist", () => informer.get("comes", "rome-apps"));
    assert.deepEqual([...witness.present.keys()].sort(), ["rome-apps/comes", "rome-apps/stays"]);
    assert.deepEqual([witness.faults, witness.deletedUids.size], [[], 1]);
    assert.equal(await restarts("Event", "gone"), 1);
    await client.create(Event, event("later"));
    await until("the watch after it", () => informer.get("later", "rome-apps"));
  });

  describe("with a server that has no streaming lists", () => {
    it("lists in pages, and never takes a failed list for an empty one", async () => {
      const plane = rome().controlPlane;
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
        forward(plane, url, incoming, outgoing);
      });
      const port = await listen(front);
      const server = { server: `http://127.0.0.1:${port}` };
      const old = KubeClient.fromKubeconfig(editKubeconfig(plane.kubeconfig, server, {}));
      const informers = new InformerSet(old);
      rome().atEnd(
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
      await rome().agrees(informer, witness, "rome-pages");
      assert.equal(informer.size, 1_098);
    });
  });

  it("holds 10,000 objects in bounded memory", async () => {
    await fillEtcd(rome().controlPlane.pids().etcd ?? 0, "rome-many", 10_000);
    // In a process of its own, since the memory of this one is full of the tests before.
    const child = fork(join(__dirname, "../support/informer-memory.js"), ["rome-many"], {
      execArgv: ["--expose-gc"],
      stdio: ["pipe", "inherit", "inherit", "ipc"],
    });
    child.stdin?.end(rome().controlPlane.kubeconfig);
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
