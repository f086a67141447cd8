import assert from "node:assert/strict";

import { Registry } from "prom-client";

import { ConfigMap, Event, Lease, Namespace, Node } from "../../runtime/api/kubernetes";
import type { Desired } from "../../runtime/api/meta";
import {
  EventRecorder,
  InformerSet,
  isConflict,
  KubeClient,
  LeaderElection,
  patchStatusIfChanged,
  runController,
  silentLogger,
  systemClock,
  type Term,
  Terminal,
  watches,
  writeIfChanged,
} from "../../runtime/kube";
import { TestClock } from "../support/test-clock";
import { auditEvents, countRequests } from "../support/audit-log";
import { editKubeconfig } from "../support/kubeconfig-edit";
import { TcpProxy } from "../support/tcp-proxy";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function configMap(name: string, data: Record<string, string>) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "rome-apps" }, data } as const;
}

describe("kube controllers", function () {
  this.timeout(60_000);
  const controlPlane = withControlPlanes({ rome: { auditLog: true, definitions: "absent" } });
  let client: KubeClient;
  before(async () => {
    client = KubeClient.fromKubeconfig(controlPlane("rome").kubeconfig, { userAgent: "rome-test" });
    await client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: "rome-apps" } });
  });
  after(() => client.close());

  it("write once: reconciled again and again, an unchanged object costs no request", async () => {
    const ending = new AbortController();
    const informers = new InformerSet(client);
    const sources = informers.informer(ConfigMap, { namespace: "rome-apps", labelSelector: "copy=please" });
    const copies = informers.informer(ConfigMap, { namespace: "rome-apps", labelSelector: "copy=done" });
    let reconciles = 0;
    const controller = runController(
      {
        name: "copier",
        sources: [
          watches(sources),
          watches(copies, { keys: ({ metadata }) => [`rome-apps/${metadata.name.replace(/-copy$/, "")}`] }),
        ],
        reconcile: async (key) => {
          reconciles += 1;
          const source = sources.getByKey(key);
          if (source === undefined) return;
          const { name, namespace } = source.metadata;
          const desired = {
            apiVersion: "v1",
            kind: "ConfigMap",
            metadata: { name: `${name}-copy`, namespace, labels: { copy: "done" } },
            data: source.data,
          } as const;
          await writeIfChanged(client, ConfigMap, desired, copies.get(`${name}-copy`, namespace), {
            exact: ["data"],
          });
        },
      },
      { log: silentLogger, clock: systemClock, signal: ending.signal, metrics: new Registry() },
    );
    const labelled = { metadata: { name: "origin", namespace: "rome-apps", labels: { copy: "please" } } };
    await client.create(ConfigMap, { ...configMap("origin", { a: "1", b: "2" }), ...labelled });
    const copy = await until("the copy", () => copies.get("origin-copy", "rome-apps"));
    assert.deepEqual(copy.data, { a: "1", b: "2" });
    await client.patch(ConfigMap, labelled.metadata, { data: { b: null } }, { type: "merge" });
    await until(
      "the change in the copy",
      () => copies.get("origin-copy", "rome-apps")?.data?.b === undefined,
    );
    const drifted = await client.patch(
      ConfigMap,
      { name: "origin-copy", namespace: "rome-apps" },
      { data: { z: "drift" } },
      { type: "merge" },
    );
    await until("the drift repaired", () => {
      const { metadata, data = {} } = copies.get("origin-copy", "rome-apps") ?? {};
      // Before the cache has seen the drift, too, the copy looks as it should.
      const isLater = Number(metadata?.resourceVersion) > Number(drifted.metadata.resourceVersion);
      return isLater && Object.keys(data).join() === "a";
    });
    await until("rest", () => controller.idle);
    // The audit log comes in batches; what is written from here on is later than this.
    const from = Date.now();
    const before = reconciles;
    for (let i = 0; i < 20; i++) {
      controller.enqueue("rome-apps/origin");
      await pause(5);
    }
    await until("rest", () => controller.idle);
    assert.ok(reconciles - before >= 10);
    await client.create(ConfigMap, configMap("marker", {}));
    const log = controlPlane("rome").auditLogPath ?? "";
    const requests = await until("the marker in the audit log", () => {
      const ours = auditEvents(log, from).filter(
        ({ userAgent, verb }) => userAgent === "rome-test" && verb !== "watch",
      );
      return ours.some(({ verb }) => verb === "create") && ours;
    });
    assert.deepEqual(countRequests(requests), [["create configmaps", 1]]);
    ending.abort();
    await controller.stop();
    await informers.stop();
  });

  describe("writes of differences", () => {
    it("take defaults and other spellings of a quantity for no difference", async () => {
      const taint = { key: "virtual-node.liqo.io/not-allowed", value: "true", effect: "NoExecute" } as const;
      const desired: Desired<Node> = {
        apiVersion: "v1",
        kind: "Node",
        metadata: { name: "milan", labels: { tier: "gold" } },
        spec: { taints: [taint] },
      };
      const created = await writeIfChanged(client, Node, desired, undefined);
      assert.equal(created.change, "created");
      // Admission adds a taint; the list is ours as a whole.
      const cleaned = await writeIfChanged(client, Node, desired, created.object);
      assert.equal((await writeIfChanged(client, Node, desired, cleaned.object)).change, "none");
      const bare: Desired<Node> = { ...desired, metadata: { name: "milan", labels: {} }, spec: {} };
      assert.equal((await writeIfChanged(client, Node, bare, cleaned.object)).change, "none");
      const exact = { exact: ["metadata.labels"] };
      const unlabelled = await writeIfChanged(client, Node, bare, cleaned.object, exact);
      assert.deepEqual([unlabelled.change, unlabelled.object.metadata.labels], ["patched", undefined]);
      const status = { capacity: { cpu: "0.5", memory: "1024Mi", pods: "110" }, images: [] };
      const first = await patchStatusIfChanged(client, Node, unlabelled.object, status);
      const canonical = { cpu: "500m", memory: "1Gi", pods: "110" };
      assert.deepEqual([first.change, first.object.status?.capacity], ["patched", canonical]);
      assert.equal((await patchStatusIfChanged(client, Node, first.object, status)).change, "none");
      const smaller = await patchStatusIfChanged(client, Node, first.object, { capacity: { cpu: "250m" } });
      assert.deepEqual(smaller.object.status?.capacity, { ...canonical, cpu: "250m" });
    });

    it("hit the object that was observed and no other", async () => {
      const old = await client.create(ConfigMap, configMap("reborn", { a: "1" }));
      await client.delete(ConfigMap, old.metadata);
      const young = await client.create(ConfigMap, configMap("reborn", { a: "1" }));
      await assert.rejects(
        writeIfChanged(client, ConfigMap, configMap("reborn", { a: "2" }), old),
        isConflict,
      );
      assert.deepEqual((await client.get(ConfigMap, young.metadata))?.data, { a: "1" });
      await assert.rejects(
        writeIfChanged(client, ConfigMap, configMap("reborn", { a: "2" }), undefined),
        isConflict,
      );
    });

    it("do not write a list over a newer one, and leave other fields free", async () => {
      const seen = await client.create(ConfigMap, configMap("lists", { a: "1" }));
      const newer = { metadata: { finalizers: ["liqo.io/theirs"] } };
      await client.patch(ConfigMap, seen.metadata, newer, { type: "merge" });
      const ours = {
        ...configMap("lists", {}),
        metadata: { ...configMap("lists", {}).metadata, finalizers: ["liqo.io/ours"] },
      };
      await assert.rejects(writeIfChanged(client, ConfigMap, ours, seen), isConflict);
      const data = await writeIfChanged(client, ConfigMap, configMap("lists", { a: "2" }), seen);
      assert.deepEqual([data.object.data, data.object.metadata.finalizers], [{ a: "2" }, ["liqo.io/theirs"]]);
      await client.patch(ConfigMap, seen.metadata, { metadata: { finalizers: null } }, { type: "merge" });
    });
  });

  describe("events", () => {
    it("count what repeats, with one write a minute, and never break a reconcile", async () => {
      const clock = new TestClock();
      const recorder = new EventRecorder({ client, component: "tenant-controller", clock });
      const about = await client.create(ConfigMap, configMap("troubled", {}));
      const ours = async () =>
        (await client.list(Event, { namespace: "rome-apps" })).filter(
          ({ involvedObject }) => involvedObject.name === "troubled",
        );
      for (let i = 0; i < 50; i++) recorder.warning(about, "Unreachable", "the peer does not answer");
      recorder.normal(about, "Reached", "the peer answers");
      await until("both events", async () => (await ours()).length === 2);
      await clock.advance(61_000);
      for (let i = 0; i < 10; i++) recorder.warning(about, "Unreachable", "the peer does not answer");
      const counted = await until("the count", async () =>
        (await ours()).find(({ count }) => (count ?? 0) > 1),
      );
      assert.deepEqual(
        [counted.count, counted.type, counted.reason, counted.involvedObject.uid, counted.source?.component],
        [51, "Warning", "Unreachable", about.metadata.uid, "tenant-controller"],
      );
      await clock.advance(11 * 60_000);
      recorder.warning(about, "Unreachable", "the peer does not answer");
      await until("a new event after the window", async () => (await ours()).length === 3);
      const nowhere = { ...about, metadata: { ...about.metadata, namespace: "no-such-namespace" } };
      recorder.warning(nowhere, "Unreachable", "x".repeat(5_000));
      recorder.warning(
        { ...about, metadata: { ...about.metadata, uid: "other" } },
        "Long",
        "x".repeat(5_000),
      );
      const long = await until("the long event", async () =>
        (await ours()).find(({ reason }) => reason === "Long"),
      );
      assert.equal(long.message?.length, 1_024);
    });

    it("tell of errors that a human must settle", async () => {
      const ending = new AbortController();
      const about = await client.create(ConfigMap, configMap("stalled", {}));
      const informers = new InformerSet(client);
      const informer = informers.informer(ConfigMap, {
        namespace: "rome-apps",
        fieldSelector: "metadata.name=stalled",
      });
      const controller = runController(
        {
          name: "staller",
          sources: [watches(informer)],
          objectOf: (key) => informer.getByKey(key),
          reconcile: () =>
            Promise.reject(new Terminal("UnknownClass", "class gold does not exist; use default")),
        },
        {
          log: silentLogger,
          clock: systemClock,
          signal: ending.signal,
          metrics: new Registry(),
          events: new EventRecorder({ client, component: "staller" }),
        },
      );
      const event = await until("the event", async () =>
        (await client.list(Event, { namespace: "rome-apps" })).find(
          ({ reason }) => reason === "UnknownClass",
        ),
      );
      assert.deepEqual(
        [event.involvedObject.uid, event.message],
        [about.metadata.uid, "class gold does not exist; use default"],
      );
      await controller.stop();
      await informers.stop();
    });
  });

  describe("leader election", () => {
    const lease = { namespace: "rome-apps", name: "controller-manager" };
    const timing = { leaseDurationMs: 2_000, renewDeadlineMs: 1_300, retryMs: 300 };

    /** A candidate and the moments its terms began and ended. */
    function candidate(identity: string, by: KubeClient, name = lease.name) {
      const terms: { from: number; to?: number }[] = [];
      const ending = new AbortController();
      const election = new LeaderElection({
        client: by,
        lease: { ...lease, name },
        identity,
        ...timing,
        onElected: ({ signal: term }) => {
          const record: { from: number; to?: number } = { from: performance.now() };
          terms.push(record);
          term.addEventListener("abort", () => (record.to = performance.now()));
        },
      });
      const ended = election.run(ending.signal);
      return { election, terms, leave: () => (ending.abort(), ended) };
    }

    it("has one leader, and the next one at once when it leaves", async () => {
      const [first, second] = [candidate("rome-1", client), candidate("rome-2", client)];
      await until("a leader", () => first.election.isLeader || second.election.isLeader);
      await pause(timing.leaseDurationMs + 500);
      const [leader, follower] = first.election.isLeader ? [first, second] : [second, first];
      assert.deepEqual(
        [leader.terms.length, follower.terms.length, follower.election.isLeader],
        [1, 0, false],
      );
      const left = performance.now();
      await leader.leave();
      await until("the next leader", () => follower.election.isLeader);
      assert.ok(
        performance.now() - left < timing.leaseDurationMs,
        "waited for the lease of a leader that had left",
      );
      assert.ok((leader.terms[0]?.to ?? Infinity) <= (follower.terms[0]?.from ?? 0));
      const held = await client.get(Lease, lease);
      assert.equal(held?.spec?.leaseTransitions, 1);
      await follower.leave();
      assert.equal((await client.get(Lease, lease))?.spec?.holderIdentity ?? "", "");
    });

    it("stops a leader that is cut off before another one starts", async () => {
      const { hostname, port } = new URL(controlPlane("rome").url);
      const proxy = await TcpProxy.start({ host: hostname, port: Number(port) });
      const server = { server: `https://127.0.0.1:${proxy.port}` };
      const isolated = KubeClient.fromKubeconfig(editKubeconfig(controlPlane("rome").kubeconfig, server));
      const leader = candidate("rome-3", isolated, "cut-off");
      await until("the leader", () => leader.election.isLeader);
      const follower = candidate("rome-4", client, "cut-off");
      await pause(500);
      proxy.freeze();
      await until("the next leader", () => follower.election.isLeader);
      const stopped = leader.terms[0]?.to;
      const started = follower.terms[0]?.from;
      assert.ok(
        stopped !== undefined && started !== undefined && stopped < started,
        `stopped ${stopped}, started ${started}`,
      );
      proxy.thaw();
      proxy.cut();
      await pause(timing.leaseDurationMs);
      assert.deepEqual([leader.election.isLeader, follower.election.isLeader], [false, true]);
      await Promise.all([leader.leave(), follower.leave()]);
      isolated.close();
      await proxy.close();
    });

    it("ends a term at its deadline, and the writes under way with it, whatever an attempt to renew waits for", async () => {
      const { hostname, port } = new URL(controlPlane("rome").url);
      const proxy = await TcpProxy.start({ host: hostname, port: Number(port) });
      const server = { server: `https://127.0.0.1:${proxy.port}` };
      const isolated = KubeClient.fromKubeconfig(editKubeconfig(controlPlane("rome").kubeconfig, server));
      const ending = new AbortController();
      let term: Term | undefined;
      let frozen = 0;
      const overstay = new Promise<number>((resolve) => {
        const election = new LeaderElection({
          client: isolated.sibling(),
          lease: { ...lease, name: "overdue" },
          identity: "rome-5",
          ...timing,
          onElected: (begun) => {
            term = begun;
            begun.signal.addEventListener("abort", () => resolve(performance.now() - frozen), { once: true });
          },
        });
        void election.run(ending.signal);
      });
      await until("the leader", () => term !== undefined);
      assert.ok(term !== undefined);
      const bound = isolated.during(term);
      const written = configMap("in-term", { by: "rome-5" });
      await bound.create(ConfigMap, written);
      proxy.freeze();
      frozen = performance.now();
      const late = assert.rejects(bound.delete(ConfigMap, written.metadata), { name: "AbortError" });
      const left = await overstay;
      assert.ok(left < timing.leaseDurationMs, `the term went on for ${left} ms`);
      await late;
      proxy.thaw();
      await assert.rejects(
        bound.delete(ConfigMap, written.metadata),
        /not sent, because this process no longer leads/,
      );
      assert.ok((await client.get(ConfigMap, written.metadata)) !== undefined);
      ending.abort();
      isolated.close();
      await proxy.close();
    });

    it("gives the lease back where a term cannot begin", async () => {
      const ending = new AbortController();
      let attempts = 0;
      const election = new LeaderElection({
        client,
        lease: { ...lease, name: "stillborn" },
        identity: "rome-6",
        ...timing,
        onElected: () => {
          attempts += 1;
          throw new Error("no caches");
        },
      });
      const ended = election.run(ending.signal);
      await until("an attempt", () => attempts > 0 && !election.isLeader);
      const other = candidate("rome-7", client, "stillborn");
      await until("the other one leads", () => other.election.isLeader);
      await pause(timing.leaseDurationMs);
      assert.deepEqual([election.isLeader, other.election.isLeader], [false, true]);
      ending.abort();
      await Promise.all([ended, other.leave()]);
    });

    it("refuses timing that would allow two leaders", () => {
      const options = { client, lease, identity: "x", onElected: () => undefined };
      assert.throws(
        () => new LeaderElection({ ...options, leaseDurationMs: 5_000, renewDeadlineMs: 6_000 }),
        /renewDeadlineMs < leaseDurationMs/,
      );
    });
  });
});
