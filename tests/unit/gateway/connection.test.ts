import assert from "node:assert/strict";

import { Connection, GatewayClient } from "../../../runtime/api";
import { ConnectionObject } from "../../../runtime/gateway/connection";
import { type Gateway, gatewayFlags, gatewayOf } from "../../../runtime/gateway/gateway";
import type { Reachability } from "../../../runtime/networking/connection-status";
import { MemoryApiServer } from "../../support/memory-api-server";
import { type TestContext, testContext } from "../../support/runtime-context";
import { until } from "../../support/until";

const flags = (gatewayUid: string) =>
  gatewayFlags.parse({
    name: ["to-milan"],
    namespace: ["liqo-tenant-milan"],
    gatewayUid: [gatewayUid],
    remoteClusterId: ["milan"],
    mode: ["client"],
  });
const INTERVAL_MS = 10_000;

describe("the Connection of a gateway (networking reference 10.3, 10.4)", () => {
  let server: MemoryApiServer;
  let context: TestContext;
  let gateway: Gateway;

  beforeEach(async () => {
    server = await MemoryApiServer.start();
    server.create(GatewayClient, {
      apiVersion: "networking.liqo.io/v1beta1",
      kind: "GatewayClient",
      metadata: { name: "to-milan", namespace: "liqo-tenant-milan" },
      spec: { endpoint: { addresses: ["203.0.113.2"], port: 51840 } },
    });
    gateway = gatewayOf(flags(server.get(GatewayClient, "liqo-tenant-milan/to-milan")?.metadata.uid ?? ""));
    context = testContext(server.kubeconfig, "gateway");
  });
  afterEach(async () => {
    await context.end();
    await server.close();
  });

  const object = (isNewTunnel = false) =>
    new ConnectionObject(context, gateway, { labels: {}, annotations: {} }, INTERVAL_MS, () => isNewTunnel);
  const stored = () => server.get(Connection, "liqo-tenant-milan/gw-to-milan") ?? assert.fail();
  const answering = (leastMs: number): Reachability => ({ state: "connected", latencyMs: leastMs, leastMs });

  it("is made when the tunnel is configured, for the peer, and goes with the gateway", async () => {
    await object().report({ state: "unknown" });
    const { metadata, spec, status } = stored();
    assert.deepEqual(metadata.labels, { "liqo.io/remote-cluster-id": "milan" });
    assert.deepEqual(metadata.ownerReferences, [
      {
        apiVersion: "networking.liqo.io/v1beta1",
        kind: "GatewayClient",
        name: "to-milan",
        uid: gateway.uid,
      },
    ]);
    assert.deepEqual(spec, {
      type: "Client",
      gatewayRef: {
        apiVersion: "networking.liqo.io/v1beta1",
        kind: "WgGatewayClient",
        name: "to-milan",
        namespace: "liqo-tenant-milan",
        uid: gateway.uid,
      },
    });
    assert.equal(status?.value, "Connecting");
  });

  it("is written when the state changes, and not for answers that say the same; a new tunnel says once that packets pass", async () => {
    const first = object();
    await first.report({ state: "unknown" });
    await first.report({ state: "connected", latencyMs: 12.4 });
    assert.equal(stored().status?.latency?.value, "12ms");
    const before = server.writes.length;
    for (const leastMs of [12.4, 9, 16.9, 12]) await first.report(answering(leastMs));
    assert.deepEqual(server.writes.slice(before), []);
    await context.end();
    context = testContext(server.kubeconfig, "gateway");
    const restarted = object();
    await restarted.report({ state: "unknown" });
    await restarted.report({ state: "connected", latencyMs: 700 });
    assert.deepEqual(server.writes.slice(before), [], "another process with the same tunnel");
    await context.end();
    context = testContext(server.kubeconfig, "gateway");
    const earlier = { status: { latency: { timestamp: "2026-05-04T12:00:00Z" } } };
    const how = { type: "merge", subresource: "status" } as const;
    await context.client.patch(Connection, stored().metadata, earlier, how);
    const written = server.writes.length;
    const next = object(true);
    await next.report({ state: "unknown" });
    assert.equal(server.writes.length, written);
    for (let count = 0; count < 3; count++) await next.report({ state: "connected", latencyMs: 700 });
    await next.report(answering(12));
    assert.equal(
      server.writes.length,
      written + 1,
      "so that who changed the tunnel sees that it is the new one",
    );
    assert.equal(stored().status?.latency?.value, "12ms");
    await next.report({ state: "lost" });
    await next.report({ state: "lost" });
    assert.equal(server.writes.length, written + 2);
    const { value, latency } = stored().status ?? {};
    assert.deepEqual([value, latency], ["Error", { value: "N/A" }]);
  });

  it("is put back where somebody edits it, and answers that generation", async () => {
    const connection = object();
    await connection.report(answering(12));
    await context.client.patch(
      Connection,
      stored().metadata,
      { spec: { type: "Server" } },
      { type: "merge" },
    );
    const edited = stored().metadata.generation ?? 0;
    await until("put back", async () => {
      await connection.report(answering(12));
      return stored().spec.type === "Client";
    });
    const { metadata, status } = stored();
    assert.ok((metadata.generation ?? 0) > edited);
    assert.equal(status?.observedGeneration, metadata.generation);
    const written = server.writes.length;
    await connection.report(answering(12));
    assert.equal(server.writes.length, written);
  });

  it("is Connected at once, without a latency, where nobody pings", async () => {
    const connection = object();
    await connection.report(undefined);
    const { value, latency } = stored().status ?? {};
    assert.deepEqual([value, latency], ["Connected", undefined]);
    const written = server.writes.length;
    await connection.report(undefined);
    assert.deepEqual(server.writes.slice(written), []);
  });
});
