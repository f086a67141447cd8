import assert from "node:assert/strict";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { ConfigMap, Namespace } from "../../../runtime/api/kubernetes";
import { AnswerLimitError, ApiError, InformerSet, PEER_LIMITS } from "../../../runtime/kube";
import { HeldBytes } from "../../../runtime/kube/client/held-bytes";
import { flood, growthOf, HostileApiServer } from "../../support/hostile-api-server";
import { until } from "../../support/until";

const MIB = 1 << 20;
const spaces = Buffer.alloc(MIB / 4, " ");

const configMap = (name: string, bytes = 10): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "rome", uid: name, resourceVersion: "7" },
  data: { text: "x".repeat(bytes) },
});
const event = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`;
const listEnd = event("BOOKMARK", {
  kind: "ConfigMap",
  apiVersion: "v1",
  metadata: { resourceVersion: "7", annotations: { "k8s.io/initial-events-end": "true" } },
});

/** Without what nobody holds any more: how much of that is left depends on the tests before. */
function memoryAfterCollection(): NodeJS.MemoryUsage {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc()");
  return process.memoryUsage();
}

describe("floods of an API server", function () {
  this.timeout(60_000);
  let milan: HostileApiServer;
  let informers: InformerSet | undefined;

  beforeEach(async () => {
    milan = await HostileApiServer.start();
  });
  afterEach(async () => {
    await informers?.stop();
    informers = undefined;
    await milan.close();
  });

  it("end at the limit where an answer has no end, and say so", async () => {
    let sent = Promise.resolve(0);
    milan.answer = (_url, response) => {
      sent = flood(response, () => spaces);
    };
    const growth = await growthOf(async () => {
      await assert.rejects(milan.client().get(Namespace, { name: "rome" }), (error) => {
        assert.ok(error instanceof AnswerLimitError, String(error));
        assert.match(
          error.message,
          new RegExp(`^GET 127.0.0.1:${milan.port}/api/v1/namespaces/rome: the answer is too large: `),
        );
        assert.match(error.message, /: 335\d{5} bytes, and at most 33554432 are taken/);
        return true;
      });
    });
    assert.ok((await sent) < PEER_LIMITS.answerBytes + 16 * MIB, `${await sent} bytes were taken`);
    assert.ok(growth < 300 * MIB, `memory grew by ${growth}`);
  });

  it("do not begin where an answer announces too much", async () => {
    milan.answer = (_url, response) => {
      response.writeHead(200, { "content-length": "900000000000" });
      response.write(" ");
    };
    await assert.rejects(
      milan.client().get(Namespace, { name: "rome" }),
      /the answer is too large: 900000000000 bytes/,
    );
  });

  it("end where the refusal of a write, of a watch or of an upgrade has no end", async () => {
    milan.answer = (_url, response) => {
      response.writeHead(403);
      void flood(response, () => spaces);
    };
    const client = milan.client({ answerBytes: MIB });
    const write = client.create(ConfigMap, configMap("a"));
    await assert.rejects(write, AnswerLimitError);
    const upgrade = client.upgrade({
      path: "/api/v1/namespaces/rome/pods/web-0/exec",
      headers: { connection: "upgrade", upgrade: "websocket" },
    });
    await assert.rejects(upgrade, AnswerLimitError);
    informers = new InformerSet(client);
    const watch = informers.informer(ConfigMap);
    await until("the refusal", () => watch.forbidden, { timeoutMs: 5_000 });
  });

  it("take memory by their bytes, not by their pieces", () => {
    const before = memoryAfterCollection();
    const held = new HeldBytes();
    for (let i = 0; i < MIB / 4; i++) held.push(Buffer.from([i & 0xff]));
    const after = memoryAfterCollection();
    const growth = after.heapUsed + after.external - before.heapUsed - before.external;
    assert.ok(growth < 20 * MIB, `256 KiB took ${growth} bytes`);
    const all = held.take();
    assert.deepEqual([all.length, all[257], held.length], [MIB / 4, 1, 0]);
  });

  it("end where a list has no last page", async () => {
    milan.answer = (_url, response) =>
      void response.end(
        JSON.stringify({
          metadata: { resourceVersion: "7", continue: `page-${milan.requests.length}` },
          items: [],
        }),
      );
    await assert.rejects(milan.client({ listBytes: 4 * MIB }).list(ConfigMap), (error) => {
      assert.ok(error instanceof AnswerLimitError, String(error));
      assert.match(error.message, /\/api\/v1\/configmaps: the list is too large: 4259840 bytes/);
      return true;
    });
    assert.equal(milan.requests.length, 65);
  });

  it("are no large lists, which come in smaller pages", async () => {
    const all = Array.from({ length: 40 }, (_, i) => configMap(`large-${i}`, MIB / 4));
    milan.answer = (url, response) => {
      const from = Number(url.searchParams.get("continue") ?? 0);
      const to = from + Number(url.searchParams.get("limit"));
      const more = to < all.length ? { continue: String(to) } : {};
      response.end(
        JSON.stringify({ metadata: { resourceVersion: "7", ...more }, items: all.slice(from, to) }),
      );
    };
    const client = milan.client({ pageBytes: 3 * MIB });
    assert.equal((await client.list(ConfigMap)).length, 40);
    const one = milan.client({ pageBytes: MIB / 8 });
    await assert.rejects(one.list(ConfigMap), /the answer is too large/);
    assert.match(milan.requests.at(-1) ?? "", /limit=1$/);
  });

  it("end where a line of a watch has no end, and are its problem", async () => {
    const sent: Promise<number>[] = [];
    milan.answer = (_url, response) => sent.push(flood(response, () => spaces));
    informers = new InformerSet(milan.client());
    const watch = informers.informer(ConfigMap, { namespace: "rome" });
    const growth = await growthOf(async () => {
      await until("a problem", () => watch.problem, { timeoutMs: 10_000 });
    });
    assert.match(
      watch.problem ?? "",
      /^GET 127\.0\.0\.1:\d+\/api\/v1\/namespaces\/rome\/configmaps: an event of the watch is too large: 8\d{6} bytes, and at most 8388608/,
    );
    assert.equal(sent.length, 1);
    assert.ok(((await sent[0]) ?? 0) < PEER_LIMITS.eventBytes + 16 * MIB);
    assert.ok(growth < 200 * MIB, `memory grew by ${growth}`);
  });

  it("end where the list of a watch has no end", async () => {
    milan.answer = (_url, response) => {
      let names = 0;
      void flood(response, () => event("ADDED", configMap(`c-${names++}`, 10_000)));
    };
    informers = new InformerSet(milan.client({ listBytes: 4 * MIB }));
    const watch = informers.informer(ConfigMap);
    await until("a problem", () => watch.problem, { timeoutMs: 20_000 });
    assert.match(watch.problem ?? "", /\/api\/v1\/configmaps: the list is too large/);
    assert.deepEqual([watch.synced, watch.size], [false, 0]);
  });

  it("end where objects come without end after the list, and leave what was there", async () => {
    const flooding = new Set(["flooded"]);
    milan.answer = (url, response) => {
      response.write(event("ADDED", configMap("there")) + listEnd);
      let names = 0;
      if (flooding.has(url.pathname.split("/")[4] ?? ""))
        void flood(response, () => event("ADDED", configMap(`c-${names++}`)));
    };
    // Small objects: they count for more than their text.
    const client = milan.client({ keptBytes: 2 * MIB });
    informers = new InformerSet(client);
    const calm = informers.informer(ConfigMap, { namespace: "calm" });
    await calm.whenSynced();
    const flooded = informers.informer(ConfigMap, { namespace: "flooded" });
    await until("a problem", () => flooded.problem, { timeoutMs: 20_000 });
    assert.match(
      flooded.problem ?? "",
      /flooded\/configmaps: what all watches keep is too large: 2099200 bytes/,
    );
    assert.equal(flooded.size, 1023);
    assert.deepEqual([calm.problem, calm.size], [undefined, 1]);
    assert.equal(client.kept.total, 2 * MIB);
    flooded.release();
    await until("what it kept is given back", () => client.kept.total === 2048);
  });

  it("cost the peer alone", async () => {
    const turin = await HostileApiServer.start();
    try {
      turin.answer = (_url, response) =>
        void response.end(
          JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: "turin" } }),
        );
      milan.answer = (_url, response) => void flood(response, () => spaces);
      informers = new InformerSet(milan.client());
      for (let i = 0; i < 8; i++) informers.informer(ConfigMap, { namespace: `n${i}` });
      const other = turin.client();
      for (let i = 0; i < 100; i++)
        assert.equal((await other.get(Namespace, { name: "turin" }))?.metadata.name, "turin");
    } finally {
      await turin.close();
    }
  });

  it("do not go on in logs and events: what a refusal says is cut", () => {
    const status = { kind: "Status", reason: "r".repeat(10_000), message: "m".repeat(MIB) };
    const error = ApiError.fromStatus("get", 500, status, undefined);
    assert.ok(error.message.length < 20_000);
    assert.ok(error.reason.length < 300);
  });
});
