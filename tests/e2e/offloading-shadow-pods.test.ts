import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

import { Configuration, type Desired, Event, Namespace, Pod, ShadowPod } from "../../runtime/api";
import { AT_MILAN, OFFLOADING, OffloadingClusters, PEER, writeReady } from "../support/offloading-clusters";
import { until } from "../support/until";

describe("offloading of pods, at the provider", function () {
  this.timeout(120_000);
  const clusters = OffloadingClusters.forSuite();
  const milan = () => clusters().admin.milan;

  const spaceLabels = { [PEER]: "rome" };
  before(async () => {
    await clusters().makeNamespace("milan", "shop-rome", spaceLabels);
    await clusters()
      .make("milan", {
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: { name: "default", namespace: "shop-rome" },
      })
      .catch(() => undefined);
  });

  const ref = (name: string) => ({ name, namespace: "shop-rome" });
  const podOf = (name: string) => milan().get(Pod, ref(name));
  const shadowOf = (name: string) => milan().get(ShadowPod, ref(name));
  const setPhase = (name: string, phase: string, conditions: object[] = []) =>
    milan().patch(
      Pod,
      ref(name),
      { status: { phase, conditions } },
      { type: "merge", subresource: "status" },
    );

  async function shadowPod(name: string, metadata: object = {}): Promise<ShadowPod> {
    const object: Desired<ShadowPod> = {
      apiVersion: OFFLOADING,
      kind: "ShadowPod",
      metadata: {
        ...ref(name),
        labels: {
          "offloading.liqo.io/origin": "rome",
          "offloading.liqo.io/destination": "milan",
          app: name,
        },
        annotations: { note: "1" },
        ...metadata,
      },
      spec: { pod: { containers: [{ name: "web", image: "web:1" }], automountServiceAccountToken: false } },
    };
    return await milan().create(ShadowPod, object);
  }

  it("makes the pod in one request, and tells when it runs in one more", async () => {
    const begin = await clusters().quiet();
    const shadow = await shadowPod("a");
    const pod = await until("the pod exists", () => podOf("a"));
    assert.deepEqual(pod.metadata.labels, { ...shadow.metadata.labels, "liqo.io/managed-by": "shadowpod" });
    assert.deepEqual(pod.metadata.annotations, { note: "1" });
    assert.equal(pod.metadata.ownerReferences?.[0]?.uid, shadow.metadata.uid);
    assert.equal(pod.metadata.ownerReferences?.[0]?.controller, true);
    await setPhase("a", "Running", [{ type: "Ready", status: "False" }]);
    await until("the phase is told", async () => (await shadowOf("a"))?.status?.phase === "Running");
    const { metadata, status } = (await shadowOf("a")) ?? assert.fail();
    assert.equal(status?.observedGeneration, metadata.generation);
    await setPhase("a", "Running", [{ type: "Ready", status: "True" }]);
    assert.deepEqual(await clusters().writesSince(begin), [
      ["create pods", 1],
      ["patch shadowpods/status", 1],
    ]);
  });

  it("carries changes of labels and annotations, removals too, and leaves the provider's own", async () => {
    await milan().patch(
      Pod,
      ref("a"),
      { metadata: { labels: { injected: "x" }, annotations: { cni: "y" } } },
      { type: "merge" },
    );
    const edit = (metadata: object) => milan().patch(ShadowPod, ref("a"), { metadata }, { type: "merge" });
    await edit({ labels: { tier: "front" }, annotations: { note: "2", extra: "1" } });
    await until("they are there", async () => {
      const { labels, annotations } = (await podOf("a"))?.metadata ?? {};
      return labels?.tier === "front" && annotations?.note === "2" && annotations.extra === "1";
    });
    await edit({ labels: { app: null }, annotations: { extra: null } });
    await until("they are gone", async () => {
      const { labels, annotations } = (await podOf("a"))?.metadata ?? {};
      return labels?.app === undefined && annotations?.extra === undefined;
    });
    const { labels, annotations } = (await podOf("a"))?.metadata ?? {};
    assert.equal(labels?.injected, "x");
    assert.equal(annotations?.cni, "y");
  });

  it("knows after a restart which labels were its own", async () => {
    await clusters().stop();
    await milan().patch(ShadowPod, ref("a"), { metadata: { labels: { tier: null } } }, { type: "merge" });
    clusters().start();
    await until("the label is gone", async () => (await podOf("a"))?.metadata.labels?.tier === undefined);
    assert.equal((await podOf("a"))?.metadata.labels?.injected, "x");
  });

  it("makes a pod anew that goes without having ended", async () => {
    const before = await podOf("a");
    await milan().delete(Pod, ref("a"), { gracePeriodSeconds: 0 });
    await until("another pod", async () => {
      const now = await podOf("a");
      return now !== undefined && now.metadata.uid !== before?.metadata.uid;
    });
    assert.equal((await shadowOf("a"))?.status?.phase, "Running");
  });

  it("does not take a deletion for an end", async () => {
    const before = await podOf("a");
    await milan().patch(Pod, ref("a"), { metadata: { finalizers: ["example.org/held"] } }, { type: "merge" });
    await milan().delete(Pod, ref("a"), { gracePeriodSeconds: 0 });
    await setPhase("a", "Failed"); // as kubelets do before they let go
    await pause(500);
    await milan().patch(Pod, ref("a"), { metadata: { finalizers: null } }, { type: "merge" });
    await until("another pod", async () => {
      const now = await podOf("a");
      return now !== undefined && now.metadata.uid !== before?.metadata.uid;
    });
    assert.equal((await shadowOf("a"))?.status?.phase, "Running");
  });

  it("keeps an outcome for ever", async () => {
    await shadowPod("job");
    await until("the pod exists", () => podOf("job"));
    await setPhase("job", "Succeeded");
    await until("the outcome is told", async () => (await shadowOf("job"))?.status?.phase === "Succeeded");
    await milan().delete(Pod, ref("job"), { gracePeriodSeconds: 0 });
    await pause(1_000);
    assert.equal(await podOf("job"), undefined);
    assert.equal((await shadowOf("job"))?.status?.phase, "Succeeded");
  });

  it("takes the pod along, within seconds also in a new cluster", async () => {
    const begin = performance.now();
    await milan().delete(ShadowPod, ref("a"));
    await clusters().untilGone("the pod", () => podOf("a"));
    assert.ok(performance.now() - begin < 10_000, "the garbage collector was waited for");
  });

  it("leaves the pod where its owner is deleted without it", async () => {
    await shadowPod("orphan");
    const pod = await until("the pod exists", () => podOf("orphan"));
    const begin = await clusters().quiet();
    await milan().delete(ShadowPod, ref("orphan"), { propagationPolicy: "Orphan" });
    await clusters().untilGone("the ShadowPod", () => shadowOf("orphan"));
    assert.deepEqual(await clusters().writesSince(begin), []);
    assert.equal((await podOf("orphan"))?.metadata.uid, pod.metadata.uid);
    await milan().delete(Pod, ref("orphan"), { gracePeriodSeconds: 0 });
  });

  it("sends pods home by the address that leads there from here, once it is known", async () => {
    const configuration: Desired<Configuration> = {
      apiVersion: "networking.liqo.io/v1beta1",
      kind: "Configuration",
      metadata: { name: "rome", namespace: AT_MILAN, labels: { [PEER]: "rome" } },
      spec: { remote: { cidr: { pod: ["10.201.0.0/16"], external: ["10.203.0.0/16"] } } },
    };
    const made = await milan().create(Configuration, configuration);
    const aliases = [
      { ip: "10.203.0.9", hostnames: ["kubernetes.default", "kubernetes.default.svc"] },
      { ip: "10.201.0.9", hostnames: ["elsewhere"] },
    ];
    const object: Desired<ShadowPod> = {
      apiVersion: OFFLOADING,
      kind: "ShadowPod",
      metadata: { ...ref("homesick"), labels: { "offloading.liqo.io/origin": "rome" } },
      spec: {
        pod: {
          containers: [{ name: "web", image: "web:1" }],
          hostAliases: aliases,
          automountServiceAccountToken: false,
        },
      },
    };
    await milan().create(ShadowPod, object);
    await pause(500);
    assert.equal(await podOf("homesick"), undefined);
    const conditions = [
      {
        type: "NetworkCIDRsConfigured",
        status: "True",
        lastTransitionTime: new Date().toISOString(),
        reason: "Test",
        message: "",
      },
    ];
    const status = { conditions, remote: { cidr: { pod: ["10.71.0.0/16"], external: ["10.72.0.0/16"] } } };
    await milan().patch(Configuration, made.metadata, { status }, { type: "merge", subresource: "status" });
    const pod = await until("the pod exists", () => podOf("homesick"));
    assert.deepEqual(
      pod.spec.hostAliases?.map(({ ip }) => ip),
      ["10.72.0.9", "10.201.0.9"],
    );
    await milan().delete(ShadowPod, ref("homesick"));
  });

  it("never touches a pod that is not its own, and takes its turn afterwards", async () => {
    const own: Desired<Pod> = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { ...ref("mine"), labels: { own: "1" } },
      spec: { containers: [{ name: "x", image: "x:1" }], automountServiceAccountToken: false },
    };
    const before = await milan().create(Pod, own);
    await shadowPod("mine");
    await until("the event", async () => {
      const { body } = await milan().raw({ path: "/api/v1/namespaces/shop-rome/events" });
      return body
        .toString()
        .includes("a pod of that name exists and belongs to nobody, not to this ShadowPod");
    });
    const after = await podOf("mine");
    assert.deepEqual(after?.metadata.labels, { own: "1" });
    assert.equal(after.metadata.resourceVersion, before.metadata.resourceVersion);
    await milan().delete(Pod, ref("mine"), { gracePeriodSeconds: 0 });
    await until(
      "its own pod",
      async () => (await podOf("mine"))?.metadata.labels?.["liqo.io/managed-by"] === "shadowpod",
      { timeoutMs: 30_000 },
    );
    await milan().delete(ShadowPod, ref("mine"));
  });

  it("tells why the provider admits no pod of it, ends nothing for that, and makes the pod once it may", async () => {
    const enforce = (level: string | null) =>
      milan().patch(
        Namespace,
        { name: "shop-rome" },
        { metadata: { labels: { "pod-security.kubernetes.io/enforce": level } } },
        { type: "merge" },
      );
    await enforce("restricted");
    try {
      await shadowPod("refused");
      await until("the event", async () =>
        (await milan().list(Event, { namespace: "shop-rome" })).some(
          ({ involvedObject, reason, message }) =>
            involvedObject.name === "refused" &&
            reason === "FailedCreatePod" &&
            message?.includes("violates PodSecurity"),
        ),
      );
      assert.equal(await podOf("refused"), undefined);
      assert.ok(!["Failed", "Succeeded"].includes((await shadowOf("refused"))?.status?.phase ?? ""));
    } finally {
      await enforce(null);
    }
    await until("the pod exists", () => podOf("refused"), { timeoutMs: 60_000 });
    await milan().delete(ShadowPod, ref("refused"));
  });

  it("replaces the pod of an earlier ShadowPod of the name", async () => {
    await shadowPod("again");
    const first = await until("the pod exists", () => podOf("again"));
    await milan().delete(ShadowPod, ref("again"));
    const second = await shadowPod("again");
    await until("the second's pod", async () => {
      const now = await podOf("again");
      return (
        now?.metadata.uid !== first.metadata.uid &&
        now?.metadata.ownerReferences?.[0]?.uid === second.metadata.uid
      );
    });
    await milan().delete(ShadowPod, ref("again"));
  });

  it("makes 300 pods with one request each", async () => {
    const begin = await clusters().quiet();
    const names = Array.from({ length: 300 }, (_, at) => `mass-${at}`);
    await Promise.all(names.map((name) => shadowPod(name)));
    const pods = () =>
      milan().list(Pod, { namespace: "shop-rome", labelSelector: "liqo.io/managed-by=shadowpod" });
    await until(
      "all pods exist",
      async () => (await pods()).filter(({ metadata }) => metadata.name.startsWith("mass-")).length === 300,
      { everyMs: 100 },
    );
    assert.deepEqual(await clusters().writesSince(begin), [["create pods", 300]]);
    await Promise.all(names.map((name) => milan().delete(ShadowPod, ref(name))));
  });

  it("frees pods that a lost node holds, where that is asked for", async () => {
    await clusters().make("milan", { apiVersion: "v1", kind: "Node", metadata: { name: "worker-1" } });
    const ready = (status: string) => writeReady(milan(), "worker-1", status);
    await ready("True");
    await shadowPod("stuck");
    const before = await until("the pod exists", () => podOf("stuck"));
    await milan().createSubresource(
      Pod,
      ref("stuck"),
      "binding",
      {
        apiVersion: "v1",
        kind: "Binding",
        metadata: ref("stuck"),
        target: { apiVersion: "v1", kind: "Node", name: "worker-1" },
      },
      () => undefined,
    );
    // By its cache, an API server may take a pod that was bound a moment ago for one without a node, which goes at once.
    await pause(1_000);
    await milan().delete(Pod, ref("stuck"));
    await pause(500);
    if ((await podOf("stuck"))?.metadata.uid !== before.metadata.uid)
      assert.fail(
        `a node that is ready ends its pods itself; written:\n${await clusters().writersOf("stuck")}`,
      );
    await ready("Unknown");
    await until("another pod", async () => {
      const now = await podOf("stuck");
      return now !== undefined && now.metadata.uid !== before.metadata.uid;
    });
    await milan().delete(ShadowPod, ref("stuck"));
  });
});
