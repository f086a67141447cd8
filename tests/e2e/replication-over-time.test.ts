import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { Annotation, Event, ForeignCluster, ResourceSlice, RoleBinding, Secret } from "../../runtime/api";
import { isForbidden, KubeClient } from "../../runtime/kube";
import { eventAbout } from "../support/events";
import type { ManagedCluster } from "../support/managed-cluster";
import type { PeeringSteps } from "../support/peering-steps";
import { atRome, REPLICATOR, ReplicationPair } from "../support/replication-pair";
import type { TcpProxy } from "../support/tcp-proxy";
import { until } from "../support/until";

describe("replication over time, from rome to milan", function () {
  this.timeout(120_000);
  const pair = ReplicationPair.forSuite();
  let rome: ManagedCluster;
  let milan: ManagedCluster;
  let steps: PeeringSteps;
  let proxy: TcpProxy;
  before(() => {
    ({ rome, milan, steps, proxy } = pair());
  });
  beforeEach(() => pair().connect());
  afterEach(async () => {
    proxy.allow();
    await rome.admin.delete(ForeignCluster, { name: "milan" });
    await pair().clear();
  });

  it("removes copies whose source went while nobody looked", async () => {
    await steps.slice();
    await pair().copied("pool");
    await rome.stop();
    const original = await pair().source("pool");
    await rome.admin.replace(ResourceSlice, {
      ...original!,
      metadata: { ...original!.metadata, finalizers: [] },
    });
    await rome.admin.delete(ResourceSlice, atRome("pool"));
    await pair().start();
    await until("orphan gone", async () => (await pair().copy("pool")) === undefined);
  });

  it("goes on where it was after the peer was away", async () => {
    await steps.slice();
    await pair().copied("pool");
    proxy.refuse();
    proxy.cut();
    await steps.slice("meanwhile");
    await rome.admin.delete(ResourceSlice, atRome("pool"));
    await until("told", async () => {
      const peer = await rome.admin.get(ForeignCluster, { name: "milan" });
      return peer?.status?.conditions?.some(({ status }) => status === "Error");
    });
    assert.equal(await pair().copy("meanwhile"), undefined);
    assert.ok(await pair().source("pool"), "held while the copy cannot be deleted");
    const begin = performance.now();
    proxy.allow();
    await pair().copied("meanwhile");
    await until("deleted on both sides", async () => {
      return (await pair().source("pool")) === undefined && (await pair().copy("pool")) === undefined;
    });
    console.log(`      caught up after ${Math.round(performance.now() - begin)} ms`);
  });

  /** The API server grants for a moment more what is no longer bound. */
  async function untilForbidden(): Promise<void> {
    const client = KubeClient.fromKubeconfig(await milan.controlPlane.kubeconfigFor({ name: REPLICATOR }));
    const ask = () => client.list(ResourceSlice, { namespace: "guests-from-rome" });
    await until("nothing is granted", () => ask().then(() => false, isForbidden));
    client.close();
  }

  it("comes back by itself after the peer forbade everything", async () => {
    const ref = { name: "liqo-binding-liqo-remote-controlplane", namespace: "guests-from-rome" };
    await steps.slice();
    await pair().copied("pool");
    await milan.admin.delete(RoleBinding, ref);
    await untilForbidden();
    await steps.slice("later");
    const about = { kind: "ResourceSlice", ...atRome("later") };
    await eventAbout(rome.admin, about, "ReplicationForbidden");
    await rome.admin.delete(ResourceSlice, atRome("pool"));
    await until("source let go", async () => (await pair().source("pool")) === undefined);
    await rome.stop();
    await pair().start();
    // Begun anew it can't even list what is there.
    await steps.slice("latest");
    await eventAbout(rome.admin, { ...about, name: "latest" }, "ReplicationForbidden");
    await steps.roleBinding(REPLICATOR);
    for (const name of ["later", "latest"]) await pair().copied(name);
    await until("orphan gone", async () => (await pair().copy("pool")) === undefined);
  });

  it("takes another kubeconfig at once", async () => {
    await steps.slice();
    await pair().copied("pool");
    proxy.refuse();
    proxy.cut();
    await steps.handmadeSecret(await milan.controlPlane.kubeconfigFor({ name: REPLICATOR }));
    await steps.slice("direct");
    await pair().copied("direct");
  });

  it("stands still with two Secrets, and goes on when one is left", async () => {
    await rome.admin.delete(Secret, { name: "cplane-secret", namespace: "to-milan" });
    await until("first gone", async () => {
      return (await rome.admin.get(Secret, { name: "cplane-secret", namespace: "to-milan" })) === undefined;
    });
    await rome.stop();
    const kubeconfig = await pair().kubeconfigThrough(proxy);
    await steps.handmadeSecret(kubeconfig);
    await steps.handmadeSecret(kubeconfig, { name: "second" });
    await pair().start();
    const about = { kind: "Secret", name: "second", namespace: "to-milan" };
    assert.match(await eventAbout(rome.admin, about, "InvalidControlPlaneSecret"), /exactly one is needed/);
    await steps.slice();
    await pause(1_000);
    assert.equal(await pair().copy("pool"), undefined);
    await rome.admin.delete(Secret, { name: "second", namespace: "to-milan" });
    await pair().copied("pool");
  });

  it("keeps the Secret until nothing is left to clean up with it", async () => {
    await steps.slice();
    await pair().copied("pool");
    const ref = { name: "cplane-secret", namespace: "to-milan" };
    await rome.admin.delete(Secret, ref);
    await pause(1_000);
    const secret = await rome.admin.get(Secret, ref);
    assert.ok(secret?.metadata.deletionTimestamp);
    assert.deepEqual(secret.metadata.finalizers, ["crdreplicator.liqo.io/operator"]);
    await rome.admin.delete(ResourceSlice, atRome("pool"));
    await until("all gone", async () => {
      const left = [
        await pair().source("pool"),
        await pair().copy("pool"),
        await rome.admin.get(Secret, ref),
      ];
      return left.every((object) => object === undefined);
    });
  });

  it("lets everything go of a peer that is declared dead", async () => {
    await steps.slice();
    await pair().copied("pool");
    proxy.refuse();
    proxy.cut();
    await until("told", async () => {
      const peer = await rome.admin.get(ForeignCluster, { name: "milan" });
      return peer?.status?.conditions?.some(({ status }) => status === "Error");
    });
    await rome.admin.delete(ResourceSlice, atRome("pool"));
    await rome.admin.delete(Secret, { name: "cplane-secret", namespace: "to-milan" });
    await pause(1_000);
    assert.ok(await pair().source("pool"));
    await rome.admin.patch(
      ForeignCluster,
      { name: "milan" },
      { metadata: { annotations: { [Annotation.permanentlyUnreachable]: "true" } } },
      { type: "merge" },
    );
    await until("no finalizer left", async () => {
      const secret = await rome.admin.get(Secret, { name: "cplane-secret", namespace: "to-milan" });
      return (await pair().source("pool")) === undefined && secret === undefined;
    });
  });

  it("runs no program that a kubeconfig names", async () => {
    await steps.handmadeSecret(
      JSON.stringify({
        "current-context": "c",
        clusters: [{ name: "c", cluster: { server: "https://127.0.0.1:1" } }],
        users: [
          {
            name: "u",
            user: { exec: { command: "/bin/true", apiVersion: "client.authentication.k8s.io/v1" } },
          },
        ],
        contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
      }),
    );
    const message = await until("told", async () => {
      const events = await rome.admin.list(Event, { namespace: "to-milan" });
      return events.map((event) => event.message).find((text) => text?.includes("is not run"));
    });
    assert.match(message, /exec plugin "\/bin\/true" is not run for a kubeconfig from elsewhere/);
  });
});
