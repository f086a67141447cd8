import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import {
  Annotation,
  type Desired,
  Event,
  ForeignCluster,
  Label,
  NamespaceMap,
  ResourceSlice,
  RoleBinding,
  Secret,
} from "../../runtime/api";
import type { PeeringSides } from "../../runtime/plan/peering";
import { isForbidden, KubeClient } from "../../runtime/kube";
import { eventAbout } from "../support/events";
import type { ManagedCluster } from "../support/managed-cluster";
import { installPair } from "../support/managed-pair";
import { PeeringSteps } from "../support/peering-steps";
import { TcpProxy } from "../support/tcp-proxy";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

const toMilan: PeeringSides = {
  consumer: { clusterId: "rome", tenantNamespace: "to-milan" },
  provider: { clusterId: "milan", tenantNamespace: "guests-from-rome" },
};
/** A second provider, on the same control plane as the first: only its names and its road are others. */
const toTurin: PeeringSides = {
  consumer: { clusterId: "rome", tenantNamespace: "to-turin" },
  provider: { clusterId: "turin", tenantNamespace: "turin-guests" },
};
const user = "rome-replicator";
const held = "crdreplicator.liqo.io/resource";
const atMilan = (name: string) => ({ name, namespace: "guests-from-rome" });
const atRome = (name: string) => ({ name, namespace: "to-milan" });

describe("replication, from rome to milan", function () {
  this.timeout(120_000);
  let rome: ManagedCluster;
  let milan: ManagedCluster;
  let steps: PeeringSteps;
  let turin: PeeringSteps;
  let proxy: TcpProxy;
  let turinProxy: TcpProxy;

  after(async () => {
    await Promise.all([rome?.end(), milan?.end()]);
    await Promise.all([proxy?.close(), turinProxy?.close()]);
  });
  const controlPlane = withControlPlanes({
    rome: { controllerManager: true, serviceCidr: "10.97.0.0/16" },
    milan: { controllerManager: true, serviceCidr: "10.98.0.0/16" },
  });
  before(async () => {
    [rome, milan] = await installPair(controlPlane);
    const port = Number(new URL(controlPlane("milan").url).port);
    proxy = await TcpProxy.start({ host: "127.0.0.1", port });
    turinProxy = await TcpProxy.start({ host: "127.0.0.1", port });
    // No provider's controllers: what arrives is the replicator's alone.
    await rome.start(["--foreign-cluster-ping-interval=1s", "--foreign-cluster-ping-timeout=500ms"]);
    steps = new PeeringSteps(rome, milan, toMilan, "pool");
    turin = new PeeringSteps(rome, milan, toTurin, "edge");
    for (const each of [steps, turin]) {
      await each.namespaces();
      await each.roleBinding(user);
    }
  });

  const throughProxy = async (to: TcpProxy) =>
    (await controlPlane("milan").kubeconfigFor({ name: user })).replace(
      /server: .*/,
      `server: https://127.0.0.1:${to.port}`,
    );
  const connect = async () => steps.handmadeSecret(await throughProxy(proxy));
  const source = (name: string) => rome.admin.get(ResourceSlice, atRome(name));
  const copy = (name: string) => milan.admin.get(ResourceSlice, atMilan(name));
  const copied = (name: string) => until(`copy of ${name}`, () => copy(name));

  describe("of one object", () => {
    before(async () => {
      await connect();
      await steps.slice();
    });
    after(() => steps.remove().then(() => steps.roleBinding(user)));

    it("makes a copy that says where it comes from", async () => {
      const { metadata, spec } = await copied("pool");
      const { labels, finalizers, ownerReferences, annotations } = metadata;
      assert.deepEqual(labels, {
        [Label.replication]: "false",
        [Label.replicated]: "true",
        [Label.replicationOrigin]: "rome",
        [Label.replicationDestination]: "milan",
        [Label.remoteClusterID]: "rome",
      });
      assert.equal(annotations?.[Annotation.createVirtualNode], "true");
      assert.deepEqual([finalizers, ownerReferences], [undefined, undefined]);
      const original = await source("pool");
      assert.deepEqual(spec, original?.spec);
      assert.deepEqual(original?.metadata.finalizers, [held]);
    });

    it("carries the spec there", async () => {
      await rome.admin.patch(
        ResourceSlice,
        atRome("pool"),
        { spec: { resources: { cpu: "3" } } },
        { type: "merge" },
      );
      await until("spec at milan", async () => (await copy("pool"))?.spec.resources?.cpu === "3");
    });

    it("undoes a change of the copy's spec, and leaves its annotations alone", async () => {
      await milan.admin.patch(
        ResourceSlice,
        atMilan("pool"),
        { metadata: { annotations: { [Annotation.cordon]: "true" } }, spec: { resources: { cpu: "99" } } },
        { type: "merge" },
      );
      await until("spec at milan", async () => (await copy("pool"))?.spec.resources?.cpu === "3");
      assert.equal((await copy("pool"))?.metadata.annotations?.[Annotation.cordon], "true");
    });

    it("leaves labels and annotations as they were when it made the copy", async () => {
      const before = (await copied("pool")).metadata;
      await rome.admin.patch(
        ResourceSlice,
        atRome("pool"),
        {
          metadata: { labels: { "example.org/tier": "gold" }, annotations: { "example.org/note": "new" } },
          spec: { resources: { cpu: "4" } },
        },
        { type: "merge" },
      );
      await until("spec at milan", async () => (await copy("pool"))?.spec.resources?.cpu === "4");
      const after = (await copied("pool")).metadata;
      assert.deepEqual([after.labels, after.annotations], [before.labels, before.annotations]);
    });

    it("carries the status back, whole", async () => {
      const status = (value: unknown) =>
        milan.admin.patch(
          ResourceSlice,
          atMilan("pool"),
          { status: value },
          { type: "merge", subresource: "status" },
        );
      await status({ resources: { cpu: "3" }, nodeLabels: { zone: "a" } });
      await until("status at rome", async () => (await source("pool"))?.status?.nodeLabels?.zone === "a");
      await status({ nodeLabels: null, resources: { memory: "1Gi" } });
      await until("status at rome", async () => {
        const seen = (await source("pool"))?.status;
        return (
          seen?.nodeLabels === undefined && seen?.resources?.memory === "1Gi" && seen.resources.cpu === "3"
        );
      });
    });

    it("makes the copy again that the provider deletes", async () => {
      const before = await copied("pool");
      await milan.admin.delete(ResourceSlice, atMilan("pool"));
      const again = await until("new copy", async () => {
        const seen = await copy("pool");
        return seen !== undefined && seen.metadata.uid !== before.metadata.uid && seen;
      });
      assert.deepEqual(again.spec, before.spec);
    });

    it("holds the source until the copy is gone, its finalizers included", async () => {
      await milan.admin.patch(
        ResourceSlice,
        atMilan("pool"),
        { metadata: { finalizers: ["example.org/slow"] } },
        { type: "merge" },
      );
      await rome.admin.delete(ResourceSlice, atRome("pool"));
      await until("copy going", async () => (await copy("pool"))?.metadata.deletionTimestamp);
      await pause(500);
      assert.deepEqual((await source("pool"))?.metadata.finalizers, [held]);
      await milan.admin.patch(
        ResourceSlice,
        atMilan("pool"),
        { metadata: { finalizers: null } },
        { type: "merge" },
      );
      await until(
        "both gone",
        async () => (await source("pool")) === undefined && (await copy("pool")) === undefined,
      );
    });

    it("lets a source go that is one no more, and takes its copy away", async () => {
      await steps.slice("former");
      await copied("former");
      await rome.admin.patch(
        ResourceSlice,
        atRome("former"),
        { metadata: { labels: { [Label.replicationDestination]: null } } },
        { type: "merge" },
      );
      await until("no copy", async () => (await copy("former")) === undefined);
      await until("not held", async () => (await source("former"))?.metadata.finalizers === undefined);
      await rome.admin.delete(ResourceSlice, atRome("former"));
      await until("gone", async () => (await source("former")) === undefined);
    });

    it("takes no part in a slice for somebody else", async () => {
      await steps.slice("other", {
        metadata: {
          name: "other",
          namespace: "to-milan",
          labels: { [Label.replication]: "true", [Label.replicationDestination]: "genoa" },
        },
      });
      await steps.slice("mine");
      await copied("mine");
      assert.equal(await copy("other"), undefined);
      assert.equal((await source("other"))?.metadata.finalizers, undefined);
    });

    it("says so where the name is taken at the peer", async () => {
      const taken: Desired<ResourceSlice> = {
        apiVersion: "authentication.liqo.io/v1beta1",
        kind: "ResourceSlice",
        metadata: atMilan("taken"),
        spec: {},
      };
      await milan.apply(taken);
      await steps.slice("taken");
      const about = { kind: "ResourceSlice", ...atRome("taken") };
      assert.match(await eventAbout(rome.admin, about, "ReplicationConflict"), /guests-from-rome\/taken/);
      await milan.admin.delete(ResourceSlice, atMilan("taken"));
    });
  });

  describe("of kinds", () => {
    after(() => steps.remove().then(() => steps.roleBinding(user)));
    it("copies namespace maps", async () => {
      await connect();
      const map: Desired<NamespaceMap> = {
        apiVersion: "offloading.liqo.io/v1beta1",
        kind: "NamespaceMap",
        metadata: {
          name: "milan",
          namespace: "to-milan",
          labels: {
            [Label.replication]: "true",
            [Label.replicationDestination]: "milan",
            [Label.remoteClusterID]: "milan",
          },
        },
        spec: { desiredMapping: { shop: "shop-rome" } },
      };
      await rome.apply(map);
      await until("map at milan", async () => {
        const seen = await milan.admin.get(NamespaceMap, atMilan("milan"));
        return seen?.spec.desiredMapping?.shop === "shop-rome";
      });
      await rome.admin.delete(NamespaceMap, { name: "milan", namespace: "to-milan" });
      await until(
        "map gone",
        async () => (await milan.admin.get(NamespaceMap, atMilan("milan"))) === undefined,
      );
    });
  });

  describe("over time", () => {
    beforeEach(connect);
    afterEach(async () => {
      proxy.allow();
      await rome.admin.delete(ForeignCluster, { name: "milan" });
      await steps.remove();
      await steps.roleBinding(user);
    });

    it("removes copies whose source went while nobody looked", async () => {
      await steps.slice();
      await copied("pool");
      await rome.stop();
      const original = await source("pool");
      await rome.admin.replace(ResourceSlice, {
        ...original!,
        metadata: { ...original!.metadata, finalizers: [] },
      });
      await rome.admin.delete(ResourceSlice, atRome("pool"));
      await rome.start(["--foreign-cluster-ping-interval=1s", "--foreign-cluster-ping-timeout=500ms"]);
      await until("orphan gone", async () => (await copy("pool")) === undefined);
    });

    it("goes on where it was after the peer was away", async () => {
      await steps.slice();
      await copied("pool");
      proxy.refuse();
      proxy.cut();
      await steps.slice("meanwhile");
      await rome.admin.delete(ResourceSlice, atRome("pool"));
      await until("told", async () => {
        const peer = await rome.admin.get(ForeignCluster, { name: "milan" });
        return peer?.status?.conditions?.some(({ status }) => status === "Error");
      });
      assert.equal(await copy("meanwhile"), undefined);
      assert.ok(await source("pool"), "held while the copy cannot be deleted");
      const begin = performance.now();
      proxy.allow();
      await copied("meanwhile");
      await until("deleted on both sides", async () => {
        return (await source("pool")) === undefined && (await copy("pool")) === undefined;
      });
      console.log(`      caught up after ${Math.round(performance.now() - begin)} ms`);
    });

    /** The API server grants for a moment more what is no longer bound. */
    async function untilForbidden(): Promise<void> {
      const client = KubeClient.fromKubeconfig(await controlPlane("milan").kubeconfigFor({ name: user }));
      const ask = () => client.list(ResourceSlice, { namespace: "guests-from-rome" });
      await until("nothing is granted", () => ask().then(() => false, isForbidden));
      client.close();
    }

    it("comes back by itself after the peer forbade everything", async () => {
      const ref = { name: "liqo-binding-liqo-remote-controlplane", namespace: "guests-from-rome" };
      await steps.slice();
      await copied("pool");
      await milan.admin.delete(RoleBinding, ref);
      await untilForbidden();
      await steps.slice("later");
      const about = { kind: "ResourceSlice", ...atRome("later") };
      await eventAbout(rome.admin, about, "ReplicationForbidden");
      await rome.admin.delete(ResourceSlice, atRome("pool"));
      await until("source let go", async () => (await source("pool")) === undefined);
      await rome.stop();
      await rome.start(["--foreign-cluster-ping-interval=1s", "--foreign-cluster-ping-timeout=500ms"]);
      // Begun anew it can't even list what is there.
      await steps.slice("latest");
      await eventAbout(rome.admin, { ...about, name: "latest" }, "ReplicationForbidden");
      await steps.roleBinding(user);
      for (const name of ["later", "latest"]) await copied(name);
      await until("orphan gone", async () => (await copy("pool")) === undefined);
    });

    it("takes another kubeconfig at once", async () => {
      await steps.slice();
      await copied("pool");
      proxy.refuse();
      proxy.cut();
      await steps.handmadeSecret(await controlPlane("milan").kubeconfigFor({ name: user }));
      await steps.slice("direct");
      await copied("direct");
    });

    it("stands still with two Secrets, and goes on when one is left", async () => {
      await rome.admin.delete(Secret, { name: "cplane-secret", namespace: "to-milan" });
      await until("first gone", async () => {
        return (await rome.admin.get(Secret, { name: "cplane-secret", namespace: "to-milan" })) === undefined;
      });
      await rome.stop();
      const kubeconfig = await throughProxy(proxy);
      await steps.handmadeSecret(kubeconfig);
      await steps.handmadeSecret(kubeconfig, { name: "second" });
      await rome.start(["--foreign-cluster-ping-interval=1s", "--foreign-cluster-ping-timeout=500ms"]);
      const about = { kind: "Secret", name: "second", namespace: "to-milan" };
      assert.match(await eventAbout(rome.admin, about, "InvalidControlPlaneSecret"), /exactly one is needed/);
      await steps.slice();
      await pause(1_000);
      assert.equal(await copy("pool"), undefined);
      await rome.admin.delete(Secret, { name: "second", namespace: "to-milan" });
      await copied("pool");
    });

    it("keeps the Secret until nothing is left to clean up with it", async () => {
      await steps.slice();
      await copied("pool");
      const ref = { name: "cplane-secret", namespace: "to-milan" };
      await rome.admin.delete(Secret, ref);
      await pause(1_000);
      const secret = await rome.admin.get(Secret, ref);
      assert.ok(secret?.metadata.deletionTimestamp);
      assert.deepEqual(secret.metadata.finalizers, ["crdreplicator.liqo.io/operator"]);
      await rome.admin.delete(ResourceSlice, atRome("pool"));
      await until("all gone", async () => {
        const left = [await source("pool"), await copy("pool"), await rome.admin.get(Secret, ref)];
        return left.every((object) => object === undefined);
      });
    });

    it("lets everything go of a peer that is declared dead", async () => {
      await steps.slice();
      await copied("pool");
      proxy.refuse();
      proxy.cut();
      await until("told", async () => {
        const peer = await rome.admin.get(ForeignCluster, { name: "milan" });
        return peer?.status?.conditions?.some(({ status }) => status === "Error");
      });
      await rome.admin.delete(ResourceSlice, atRome("pool"));
      await rome.admin.delete(Secret, { name: "cplane-secret", namespace: "to-milan" });
      await pause(1_000);
      assert.ok(await source("pool"));
      await rome.admin.patch(
        ForeignCluster,
        { name: "milan" },
        { metadata: { annotations: { [Annotation.permanentlyUnreachable]: "true" } } },
        { type: "merge" },
      );
      await until("no finalizer left", async () => {
        const secret = await rome.admin.get(Secret, { name: "cplane-secret", namespace: "to-milan" });
        return (await source("pool")) === undefined && secret === undefined;
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

  describe("to several peers", () => {
    it("does not let one peer wait for another", async () => {
      await connect();
      await turin.handmadeSecret(await throughProxy(turinProxy));
      await steps.slice();
      await turin.slice();
      await copied("pool");
      await until("copy at turin", () =>
        milan.admin.get(ResourceSlice, { name: "edge", namespace: "turin-guests" }),
      );
      turinProxy.freeze();
      for (const index of [1, 2, 3, 4, 5]) await turin.slice(`stuck-${index}`);
      const begin = performance.now();
      await steps.slice("quick");
      await copied("quick");
      const took = performance.now() - begin;
      console.log(`      copied in ${Math.round(took)} ms while another peer hangs`);
      assert.ok(took < 2_000, `copied in ${took} ms`);
      await until("what waits is counted", async () => {
        const pending = await rome.metric('liqo_replication_pending{cluster_id="turin"}');
        const lag = (await rome.metric('liqo_replication_lag_seconds{cluster_id="turin"}')) ?? 0;
        // Six where the watch had not told of the first one's copy before it froze.
        return (pending === 5 || pending === 6) && lag > 0;
      });
      await until("nothing waits for the other", async () => {
        return (await rome.metric('liqo_replication_lag_seconds{cluster_id="milan"}')) === 0;
      });
      turinProxy.thaw();
      turinProxy.cut();
      await until("the other catches up", async () => {
        const copies = await milan.admin.list(ResourceSlice, { namespace: "turin-guests" });
        return copies.length === 6;
      });
      await until("nothing waits any more", async () => {
        const pending = await rome.metric('liqo_replication_pending{cluster_id="turin"}');
        const lag = await rome.metric('liqo_replication_lag_seconds{cluster_id="turin"}');
        return pending === 0 && lag === 0;
      });
      const created = 'liqo_replication_writes_total{cluster_id="turin",kind="ResourceSlice",write="create"}';
      // A copy that was being made as the connection broke had no answer, and is not counted.
      const counted = await rome.metric(created);
      assert.ok(counted === 5 || counted === 6, `${counted} copies counted`);
      await Promise.all([steps.remove(), turin.remove()]);
    });
  });
});
