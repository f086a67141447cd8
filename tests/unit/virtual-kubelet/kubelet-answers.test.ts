import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

import { ExpiringCache } from "../../../runtime/virtual-kubelet/kubelet/client-auth";
import { joinStreams } from "../../../runtime/virtual-kubelet/kubelet/kubelet-session";
import {
  mergeMetrics,
  parsePodMetrics,
  statsSummary,
} from "../../../runtime/virtual-kubelet/kubelet/node-metrics";

describe("ExpiringCache", () => {
  it("asks once for all, again after the lifetime, and forgets failures", async () => {
    let now = 0;
    let asked = 0;
    const cache = new ExpiringCache<number>(2, () => now);
    const ask = () => Promise.resolve(++asked);
    assert.deepEqual(await Promise.all([cache.get("a", 10, ask), cache.get("a", 10, ask)]), [1, 1]);
    now = 9;
    assert.equal(await cache.get("a", 10, ask), 1);
    now = 10;
    assert.equal(await cache.get("a", 10, ask), 2);
    await assert.rejects(
      cache.get("b", 10, () => Promise.reject(new Error("down"))),
      /down/,
    );
    assert.equal(await cache.get("b", 10, ask), 3);
  });

  it("makes room for the newest", async () => {
    const cache = new ExpiringCache<string>(2, () => 0);
    for (const key of ["a", "b", "c"]) await cache.get(key, 10, () => Promise.resolve(key));
    assert.equal(await cache.get("a", 10, () => Promise.resolve("again")), "again");
    assert.equal(await cache.get("c", 10, () => Promise.resolve("again")), "c");
  });
});

describe("mergeMetrics", () => {
  const milan = `# HELP pod_cpu_usage_seconds_total CPU
# TYPE pod_cpu_usage_seconds_total counter
pod_cpu_usage_seconds_total{namespace="shop",pod="web-0"} 1
# TYPE node_cpu_usage_seconds_total counter
node_cpu_usage_seconds_total 7
`;
  const turin = `# HELP pod_cpu_usage_seconds_total CPU of a pod
# TYPE pod_cpu_usage_seconds_total counter
pod_cpu_usage_seconds_total{namespace="shop",pod="web-1"} 2
`;
  it("passes one text on as it is", () => assert.equal(mergeMetrics([milan]), milan));
  it("has each family once, and no node's sum among several", () => {
    assert.equal(
      mergeMetrics([milan, turin]),
      `# HELP pod_cpu_usage_seconds_total CPU
# TYPE pod_cpu_usage_seconds_total counter
pod_cpu_usage_seconds_total{namespace="shop",pod="web-0"} 1
pod_cpu_usage_seconds_total{namespace="shop",pod="web-1"} 2
`,
    );
  });
  it("is empty for nothing", () => assert.equal(mergeMetrics([]), ""));
});

describe("statsSummary", () => {
  it("sums what the pods' containers use", () => {
    const metrics = parsePodMetrics(
      JSON.stringify({
        items: [
          {
            metadata: { name: "web-0" },
            timestamp: "2026-03-04T05:06:07Z",
            containers: [
              { name: "app", usage: { cpu: "250m", memory: "64Mi" } },
              { name: "log", usage: { cpu: "1500n", memory: "1Ki" } },
            ],
          },
        ],
      }),
    )?.[0];
    assert.ok(metrics);
    const summary = statsSummary("milan", "2026-03-04T00:00:00Z", [
      { name: "web-0", namespace: "shop", uid: "u1", startTime: "2026-03-04T05:00:00Z", metrics },
    ]) as {
      node: { cpu: { usageNanoCores: number } };
      pods: { podRef: unknown; memory: { workingSetBytes: number } }[];
    };
    assert.equal(summary.node.cpu.usageNanoCores, 250_001_500);
    assert.deepEqual(summary.pods[0]?.podRef, { name: "web-0", namespace: "shop", uid: "u1" });
    assert.equal(summary.pods[0]?.memory.workingSetBytes, 64 * 1024 * 1024 + 1024);
  });
  it("takes no other text for metrics", () => {
    assert.equal(parsePodMetrics("404 page not found"), undefined);
    assert.equal(parsePodMetrics("{}"), undefined);
  });
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe("joinStreams", () => {
  /** Two connected pairs of sockets; the inner ones get joined. */
  async function pairs(): Promise<{
    client: Socket;
    near: Socket;
    far: Socket;
    server: Socket;
    end: () => void;
  }> {
    const listener = createServer({ allowHalfOpen: true }).listen(0, "127.0.0.1");
    await once(listener, "listening");
    const { port } = listener.address() as AddressInfo;
    const pair = async (): Promise<[Socket, Socket]> => {
      const accepted = once(listener, "connection") as Promise<[Socket]>;
      const dialled = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
      return [dialled, (await accepted)[0]];
    };
    const [client, near] = await pair();
    const [far, server] = await pair();
    return { client, near, far, server, end: () => listener.close() };
  }

  it("passes what is sent last before one side ends, and then closes both", async () => {
    const { client, near, far, server, end } = await pairs();
    const joined = joinStreams(near, far);
    const sent = Buffer.alloc(3_000_000, "x");
    client.end(sent);
    let received = 0;
    server.on("data", (chunk: Buffer) => (received += chunk.length));
    await once(server, "end");
    assert.equal(received, sent.length);
    server.end("bye");
    assert.equal(String((await once(client, "data"))[0]), "bye");
    await joined;
    assert.ok(near.destroyed && far.destroyed);
    end();
  });

  it("does not read faster than the other side takes it", async () => {
    const { client, near, far, server, end } = await pairs();
    const joined = joinStreams(near, far);
    server.pause();
    let sent = 0;
    const chunk = Buffer.alloc(65_536);
    while (client.writableLength < 64 * 1024 * 1024 && sent < 512) {
      client.write(chunk);
      sent++;
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.ok(
      far.writableLength < 5 * 1024 * 1024,
      `${far.writableLength} bytes are held for a side that does not read`,
    );
    client.destroy();
    server.destroy();
    await joined;
    end();
  });

  it("delivers to a slow side all that the other sent before it was gone", async () => {
    const { client, near, far, server, end } = await pairs();
    const joined = joinStreams(near, far);
    client.pause();
    const sent = 3_000_000;
    server.end(Buffer.alloc(sent, "x"));
    await until(() => far.readableEnded);
    // As a client goes on sending what its protocol demands, to a side that is no more.
    for (let i = 0; i < 20; i++) {
      client.write("window update");
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    server.destroy();
    let received = 0;
    client.on("data", (chunk: Buffer) => (received += chunk.length));
    client.resume();
    await once(client, "end");
    assert.equal(received, sent);
    client.destroy();
    await joined;
    end();
  });

  it("ends when one side breaks", async () => {
    const { client, near, far, server, end } = await pairs();
    const joined = joinStreams(near, far);
    server.resetAndDestroy();
    client.on("error", () => undefined);
    await joined;
    client.destroy();
    end();
  });
});
