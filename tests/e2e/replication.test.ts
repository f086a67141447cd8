import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { Annotation, type Desired, Label, NamespaceMap, ResourceSlice } from "../../runtime/api";
import type { PeeringSides } from "../../runtime/plan/peering";
import { eventAbout } from "../support/events";
import type { ManagedCluster } from "../support/managed-cluster";
import { PeeringSteps } from "../support/peering-steps";
import { atMilan, atRome, proxyTo, REPLICATOR, ReplicationPair } from "../support/replication-pair";
import type { TcpProxy } from "../support/tcp-proxy";
import { until } from "../support/until";

/** A second provider, on the same control plane as the first: only its names and its road are others. */
const toTurin: PeeringSides = {
  consumer: { clusterId: "rome", tenantNamespace: "to-turin" },
  provider: { clusterId: "turin", tenantNamespace: "turin-guests" },
};
const held = "crdreplicator.liqo.io/resource";

describe("replication, from rome to milan", function () {
  this.timeout(120_000);
  const pair = ReplicationPair.forSuite();
  let rome: ManagedCluster;
  let milan: ManagedCluster;
  let steps: PeeringSteps;
  before(() => {
    ({ rome, milan, steps } = pair());
  });

  describe("of one object", () => {
    before(async () => {
      await pair().connect();
      await steps.slice();
    });
    after(() => pair().clear());

    it("makes a copy that says where it comes from", async () => {
      const { metadata, spec } = await pair().copied("pool");
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
      const original = await pair().source("pool");
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
      await until("spec at milan", async () => (await pair().copy("pool"))?.spec.resources?.cpu === "3");
    });

    it("undoes a change of the copy's spec, and leaves its annotations alone", async () => {
      await milan.admin.patch(
        ResourceSlice,
        atMilan("pool"),
        { metadata: { annotations: { [Annotation.cordon]: "true" } }, spec: { resources: { cpu: "99" } } },
        { type: "merge" },
      );
      await until("spec at milan", async () => (await pair().copy("pool"))?.spec.resources?.cpu === "3");
      assert.equal((await pair().copy("pool"))?.metadata.annotations?.[Annotation.cordon], "true");
    });

    it("leaves labels and annotations as they were when it made the copy", async () => {
      const before = (await pair().copied("pool")).metadata;
      await rome.admin.patch(
        ResourceSlice,
        atRome("pool"),
        {
          metadata: { labels: { "example.org/tier": "gold" }, annotations: { "example.org/note": "new" } },
          spec: { resources: { cpu: "4" } },
        },
        { type: "merge" },
      );
      await until("spec at milan", async () => (await pair().copy("pool"))?.spec.resources?.cpu === "4");
      const after = (await pair().copied("pool")).metadata;
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
      await until(
        "status at rome",
        async () => (await pair().source("pool"))?.status?.nodeLabels?.zone === "a",
      );
      await status({ nodeLabels: null, resources: { memory: "1Gi" } });
      await until("status at rome", async () => {
        const seen = (await pair().source("pool"))?.status;
        return (
          seen?.nodeLabels === undefined && seen?.resources?.memory === "1Gi" && seen.resources.cpu === "3"
        );
      });
    });

    it("makes the copy again that the provider deletes", async () => {
      const before = await pair().copied("pool");
      await milan.admin.delete(ResourceSlice, atMilan("pool"));
      const again = await until("new copy", async () => {
        const seen = await pair().copy("pool");
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
      await until("copy going", async () => (await pair().copy("pool"))?.metadata.deletionTimestamp);
      await pause(500);
      assert.deepEqual((await pair().source("pool"))?.metadata.finalizers, [held]);
      await milan.admin.patch(
        ResourceSlice,
        atMilan("pool"),
        { metadata: { finalizers: null } },
        { type: "merge" },
      );
      await until(
        "both gone",
        async () => (await pair().source("pool")) === undefined && (await pair().copy("pool")) === undefined,
      );
    });

    it("lets a source go that is one no more, and takes its copy away", async () => {
      await steps.slice("former");
      await pair().copied("former");
      await rome.admin.patch(
        ResourceSlice,
        atRome("former"),
        { metadata: { labels: { [Label.replicationDestination]: null } } },
        { type: "merge" },
      );
      await until("no copy", async () => (await pair().copy("former")) === undefined);
      await until("not held", async () => (await pair().source("former"))?.metadata.finalizers === undefined);
      await rome.admin.delete(ResourceSlice, atRome("former"));
      await until("gone", async () => (await pair().source("former")) === undefined);
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
      await pair().copied("mine");
      assert.equal(await pair().copy("other"), undefined);
      assert.equal((await pair().source("other"))?.metadata.finalizers, undefined);
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
    after(() => pair().clear());
    it("copies namespace maps", async () => {
      await pair().connect();
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

  describe("to several peers", () => {
    let turin: PeeringSteps;
    let turinProxy: TcpProxy;
    before(async () => {
      turinProxy = await proxyTo(milan);
      turin = new PeeringSteps(rome, milan, toTurin, "edge");
      await turin.namespaces();
      await turin.roleBinding(REPLICATOR);
    });
    after(() => turinProxy?.close());

    it("does not let one peer wait for another", async () => {
      await pair().connect();
      await turin.handmadeSecret(await pair().kubeconfigThrough(turinProxy));
      await steps.slice();
      await turin.slice();
      await pair().copied("pool");
      await until("copy at turin", () =>
        milan.admin.get(ResourceSlice, { name: "edge", namespace: "turin-guests" }),
      );
      turinProxy.freeze();
      for (const index of [1, 2, 3, 4, 5]) await turin.slice(`stuck-${index}`);
      const begin = performance.now();
      await steps.slice("quick");
      await pair().copied("quick");
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
