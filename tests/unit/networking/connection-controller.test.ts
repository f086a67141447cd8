import assert from "node:assert/strict";

import { Connection, Deployment } from "../../../runtime/api";
import { runConnectionController } from "../../../runtime/networking/gateway/connection-controller";
import type { MemoryApiServer } from "../../support/memory-api-server";
import { endRuns, quiet, run } from "../../support/memory-run";
import { until } from "../../support/until";

const GRACE_MS = 300;
const metadata = { name: "gw-rome", namespace: "liqo-tenant-rome" };
const key = "liqo-tenant-rome/gw-rome";

describe("the Connection of a gateway that does not run", function () {
  this.timeout(180_000);
  afterEach(endRuns);

  const start = (
    value: "Connected" | "Connecting",
    status: Deployment["status"] | undefined,
    graceMs = GRACE_MS,
  ) =>
    run({
      prepare: (server) => {
        server.create(Connection, {
          apiVersion: "networking.liqo.io/v1beta1",
          kind: "Connection",
          metadata,
          spec: { type: "Server", gatewayRef: { kind: "WgGatewayServer", name: "rome" } },
          status: { value, latency: { value: "3ms", timestamp: "2026-03-04T05:06:07Z" } },
        });
        server.create(Deployment, {
          apiVersion: "apps/v1",
          kind: "Deployment",
          metadata: { ...metadata, labels: { "networking.liqo.io/gateway-name": "rome" } },
          spec: {
            selector: { matchLabels: { app: "gw" } },
            template: { metadata: { labels: { app: "gw" } } },
          },
          ...(status && { status }),
        });
      },
      start: (context) => {
        runConnectionController(context, context.informers.informer(Deployment), graceMs);
        return Promise.resolve();
      },
      done: () => true,
    });
  const shown = (server: MemoryApiServer) => server.get(Connection, key)?.status;
  const afterGrace = () => new Promise((resolve) => setTimeout(resolve, 2 * GRACE_MS));

  it("is Error once it has been down for a while, and is written once", async () => {
    const server = await start("Connected", { observedGeneration: 1, replicas: 1 });
    const before = performance.now();
    await until("it is taken back", () => shown(server)?.value === "Error");
    assert.ok(performance.now() - before > GRACE_MS / 2);
    assert.deepEqual(shown(server)?.latency, { value: "N/A" });
    await afterGrace();
    await quiet(server);
  });

  it("stays where the gateway is back before that", async () => {
    const graceMs = 3_000;
    const server = await start("Connected", { observedGeneration: 1, replicas: 1 }, graceMs);
    server.change(Deployment, key, { status: { readyReplicas: 1 } }, "status");
    await new Promise((resolve) => setTimeout(resolve, graceMs + 500));
    assert.equal(shown(server)?.value, "Connected");
  });

  const untouched: [string, "Connected" | "Connecting", Deployment["status"] | undefined][] = [
    ["runs", "Connected", { observedGeneration: 1, readyReplicas: 1 }],
    ["is known by nobody yet", "Connected", undefined],
    ["never said that it is connected", "Connecting", { observedGeneration: 1 }],
  ];
  for (const [what, value, status] of untouched) {
    it(`stays as it is where the gateway ${what}`, async () => {
      const server = await start(value, status);
      await afterGrace();
      assert.equal(shown(server)?.value, value);
      assert.deepEqual(
        server.writes.filter((write) => write.startsWith("PATCH")),
        [],
      );
    });
  }
});
