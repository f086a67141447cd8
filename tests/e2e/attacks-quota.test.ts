import assert from "node:assert/strict";
import { createServer } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

import {
  type Desired,
  Event,
  ForeignCluster,
  Namespace,
  NamespaceMap,
  Node,
  Pod,
  Secret,
  Service,
  ShadowEndpointSlice,
  ShadowPod,
  Tenant,
  type WholePodSpec,
} from "../../runtime/api";
import type { KubeClient } from "../../runtime/kube";
import { refusal } from "../support/admission-cluster";
import { base64 } from "../support/base64";
import { eventAbout, eventWith } from "../support/events";
import { listen } from "../support/listen";
import { writeReady } from "../support/offloading-clusters";
import { atMilan, tenantOfRome } from "../support/peering-of-rome";
import { COPY, Stranger } from "../support/stranger";
import { until } from "../support/until";

/** Of the eight that the slice `pool` was granted. */
const cpus = (cpu: string): WholePodSpec => ({
  containers: [{ name: "web", image: "web:1", resources: { requests: { cpu, memory: "1Mi" } } }],
});

/** What whoever holds a consumer's credentials can get beyond what it was granted, and keep beyond its time. */
describe("a stranger and what it was granted", function () {
  this.timeout(120_000);
  const rome = Stranger.forSuite();
  const shadowOf = (name: string) => rome.admin.get(ShadowPod, { name, namespace: "shop-rome" });
  const FULL = /peering cpu quota usage exceeded/;
  let replica: Awaited<ReturnType<Stranger["anotherWebhook"]>>;

  before(async () => {
    await rome.serveWebhooks();
    replica = await rome.anotherWebhook();
    await rome.namespace("shop", "shop-rome");
    await rome.admin.create(Node, {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "worker-1" },
      spec: {},
    });
    await writeReady(rome.admin, "worker-1", "True");
  });

  /** A pod that has been placed takes its time to go: nobody but the node's kubelet ends it. */
  async function runPlaced(name: string, pod: WholePodSpec, metadata: object = {}): Promise<void> {
    assert.equal(await rome.run(name, pod, metadata), "allowed");
    await until(`the pod ${name}`, () => rome.pod(name));
    const ref = { name, namespace: "shop-rome" };
    const target = { apiVersion: "v1", kind: "Node", name: "worker-1" };
    const binding = { apiVersion: "v1", kind: "Binding", metadata: ref, target };
    await rome.admin.createSubresource(Pod, ref, "binding", binding, () => undefined);
    await until(
      `the pod ${name} is placed`,
      async () => (await rome.pod(name))?.spec.nodeName === "worker-1",
    );
  }
  const deleteShadow = (name: string) => rome.kubelet.delete(ShadowPod, { name, namespace: "shop-rome" });
  /** As the kubelet of its node ends it. */
  const end = (name: string) =>
    rome.admin.delete(Pod, { name, namespace: "shop-rome" }, { gracePeriodSeconds: 0 });
  const untilFree = (name: string, pod: WholePodSpec) =>
    until(`there is room for ${name}`, async () => (await rome.run(name, pod)) === "allowed", {
      everyMs: 250,
    });

  it("pays for a pod whose ShadowPod it holds back on its way out", async () => {
    await runPlaced("held", cpus("5"), { finalizers: ["rome.example/held"] });
    await deleteShadow("held");
    await until("it is being deleted", async () => (await shadowOf("held"))?.metadata.deletionTimestamp);
    assert.ok(await rome.pod("held"));
    assert.match(await rome.run("second", cpus("5")), FULL);
    await rome.kubelet.patch(
      ShadowPod,
      { name: "held", namespace: "shop-rome" },
      { metadata: { finalizers: null } },
      { type: "merge" },
    );
  });

  it("pays on until that pod is gone", async () => {
    await until("the ShadowPod is gone", async () => (await shadowOf("held")) === undefined);
    assert.ok(await rome.pod("held"));
    assert.match(await rome.run("second", cpus("5")), FULL);
  });

  it("pays on whichever of the webhooks is asked, though it starts only now", async () => {
    for (const asked of [replica, await rome.anotherWebhook()]) {
      assert.match(await asked("second", cpus("5")), FULL);
      assert.equal(await asked("second", cpus("2")), "allowed");
    }
  });

  it("gets it back with the end of that pod", async () => {
    await end("held");
    await untilFree("second", cpus("5"));
    await deleteShadow("second");
  });

  it("pays for a pod that takes its time to end", async () => {
    await untilFree("probe", cpus("8"));
    await deleteShadow("probe");
    await untilFree("slow", { ...cpus("5"), terminationGracePeriodSeconds: 1_000_000 });
    await until("the pod slow", () => rome.pod("slow"));
    const ref = { name: "slow", namespace: "shop-rome" };
    const target = { apiVersion: "v1", kind: "Node", name: "worker-1" };
    const binding = { apiVersion: "v1", kind: "Binding", metadata: ref, target };
    await rome.admin.createSubresource(Pod, ref, "binding", binding, () => undefined);
    await until("slow is placed", async () => (await rome.pod("slow"))?.spec.nodeName);
    await deleteShadow("slow");
    await until(
      "its pod is on its way out",
      async () => (await rome.pod("slow"))?.metadata.deletionTimestamp !== undefined,
    );
    assert.equal(await shadowOf("slow"), undefined);
    assert.match(await rome.run("beside", cpus("5")), FULL);
    await end("slow");
    await untilFree("beside", cpus("5"));
    await deleteShadow("beside");
  });

  it("pays for a pod that it leaves without an owner", async () => {
    await untilFree("probe", cpus("8"));
    await deleteShadow("probe");
    await untilFree("orphan", cpus("5"));
    await until("the pod orphan", () => rome.pod("orphan"));
    await rome.kubelet.delete(
      ShadowPod,
      { name: "orphan", namespace: "shop-rome" },
      { propagationPolicy: "Orphan" },
    );
    await until("the ShadowPod is gone", async () => (await shadowOf("orphan")) === undefined);
    assert.ok(await rome.pod("orphan"));
    assert.match(await rome.run("beside", cpus("5")), FULL);
    await end("orphan");
    await untilFree("beside", cpus("5"));
    await deleteShadow("beside");
  });

  it("pays for what a pod asks for as a whole, and the pod has it", async () => {
    await untilFree("probe", cpus("8"));
    await deleteShadow("probe");
    const whole: WholePodSpec = {
      containers: [{ name: "web", image: "web:1" }],
      resources: { requests: { cpu: "3", memory: "1Mi" } },
    };
    await untilFree("whole-1", whole);
    await until("it is stored", () => shadowOf("whole-1"));
    assert.equal(await rome.run("whole-2", whole), "allowed");
    await until("both pods", async () => (await rome.pod("whole-1")) && (await rome.pod("whole-2")));
    assert.match(await rome.run("whole-3", whole), /cpu quota usage exceeded - free 2 \/ requested 3/);
    const spec: WholePodSpec | undefined = (await rome.pod("whole-1"))?.spec;
    assert.deepEqual(spec?.resources?.requests, { cpu: "3", memory: "1Mi" });
  });

  const squatted = [
    "liqo-tenant-turin",
    "liqo-system",
    "liqo",
    "liqo-storage",
    "kube-dns",
    "kube-public",
    "default",
    "guests-from-rome",
    "somebodys",
  ];
  it("passes for no part of milan's network by the labels of its pods", async () => {
    const labels = {
      app: "web",
      "offloading.liqo.io/origin": "rome",
      "offloading.liqo.io/destination": "milan",
      "networking.liqo.io/component": "gateway",
      "networking.liqo.io/active": "true",
      "networking.liqo.io/gateway-name": "turin",
      "networking.liqo.io/gateway-namespace": "guests-from-turin",
    };
    await until(
      "there is room for it",
      async () => (await rome.run("gateway", cpus("1"), { labels })) === "allowed",
    );
    const { metadata } = await until("its pod", () => rome.pod("gateway"));
    assert.equal(metadata.labels?.app, "web");
    assert.deepEqual(
      Object.keys(metadata.labels).filter((key) => key.startsWith("networking.liqo.io/")),
      [],
    );
    await deleteShadow("gateway");
  });

  it("leads milan nowhere by a Secret in its remote namespace", async () => {
    let asked = 0;
    const server = createServer((_request, response) => {
      asked += 1;
      response.end();
    });
    const url = `http://127.0.0.1:${await listen(server)}`;
    const kubeconfig = JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "trap",
      clusters: [{ name: "trap", cluster: { server: url } }],
      users: [{ name: "trap", user: { token: "trap" } }],
      contexts: [{ name: "trap", context: { cluster: "trap", user: "trap" } }],
    });
    const ref = { name: "trap", namespace: "shop-rome" };
    await rome.kubelet.create(Secret, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        ...ref,
        labels: { "liqo.io/identity-type": "ControlPlane", "liqo.io/remote-cluster-id": "naples" },
        annotations: { "liqo.io/remote-tenant-namespace": "anything" },
      },
      data: { kubeconfig: base64(kubeconfig) },
    });
    assert.match(
      await eventAbout(rome.admin, { kind: "Secret", ...ref }, "WrongNamespace"),
      /"shop-rome" is not this cluster's for cluster "naples"/,
    );
    await pause(1_000);
    server.close();
    assert.equal(asked, 0);
    assert.equal(await rome.admin.get(ForeignCluster, { name: "naples" }), undefined);
    await rome.kubelet.delete(Secret, ref);
    await until("the Secret is gone", async () => (await rome.admin.get(Secret, ref)) === undefined);
  });

  it("takes no address of milan's by a Service, and has Services as ever", async () => {
    const service = (name: string, spec: object): Desired<Service> => ({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, namespace: "shop-rome" },
      spec: { ports: [{ port: 443 }], ...spec },
    });
    const externalIPs = ["10.98.0.1", "192.0.2.7"];
    const refused = /spec\.externalIPs is \["10\.98\.0\.1","192\.0\.2\.7"\], and user "pool-a8a4c692b93b"/;
    assert.match(await refusal(rome.kubelet.create(Service, service("trap", { externalIPs }))), refused);
    const plain = service("plain", { type: "LoadBalancer" });
    assert.equal(await refusal(rome.kubelet.create(Service, plain)), "allowed");
    const edit = { spec: { externalIPs } };
    const ref = { name: "plain", namespace: "shop-rome" };
    assert.match(await refusal(rome.kubelet.patch(Service, ref, edit, { type: "merge" })), refused);
    await rome.admin.create(Service, service("by-the-administrator", { externalIPs }));
  });

  it("gives no addresses by the networks of another consumer", async () => {
    const slice: Desired<ShadowEndpointSlice> = {
      apiVersion: "offloading.liqo.io/v1beta1",
      kind: "ShadowEndpointSlice",
      metadata: {
        name: "trap",
        namespace: "shop-rome",
        labels: { "offloading.liqo.io/origin": "turin", "kubernetes.io/service-name": "plain" },
      },
      spec: { template: { addressType: "IPv4", endpoints: [{ addresses: ["10.98.0.10"] }], ports: [] } },
    };
    const { metadata, kind } = await rome.kubelet.create(ShadowEndpointSlice, slice);
    assert.match(
      await eventAbout(rome.admin, { kind, ...metadata }, "FailedEndpointSlice"),
      /is "turin", and the namespace was made for cluster "rome"/,
    );
    await rome.kubelet.delete(ShadowEndpointSlice, metadata);
  });

  it("gets no namespace whose name is somebody else's", async () => {
    await rome.admin.create(Namespace, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "somebodys" },
    });
    await rome.ask(Object.fromEntries(squatted.map((name, at) => [`local-${at}`, name])));
    await until("all are answered", async () => {
      const answers = await rome.answers();
      return squatted.every((_, at) => answers[`local-${at}`] !== undefined);
    });
    const answers = await rome.answers();
    assert.deepEqual(
      squatted.filter((_, at) => answers[`local-${at}`] !== "CreationLoopBackOff"),
      [],
    );
    for (const name of squatted) {
      const there = await rome.remote(name);
      assert.equal(there?.metadata.annotations?.["liqo.io/managed-by-namespace-map"], undefined, name);
    }
    assert.equal(await rome.remote("liqo-tenant-turin"), undefined);
    await rome.ask(Object.fromEntries(squatted.map((_, at) => [`local-${at}`, null])));
  });

  const map = (name: string, labels: Record<string, string>, remote: string): Desired<NamespaceMap> => ({
    apiVersion: "offloading.liqo.io/v1beta1",
    kind: "NamespaceMap",
    metadata: { ...atMilan(name), labels },
    spec: { desiredMapping: { hidden: remote } },
  });

  it("gets no namespace in another consumer's name", async () => {
    const turin = { ...COPY, "liqo.io/originID": "turin", "liqo.io/remote-cluster-id": "turin" };
    const spoofed = map("spoofed", turin, "hidden-spoofed");
    assert.match(
      await refusal(rome.controlPlane.create(NamespaceMap, spoofed)),
      /liqo\.io\/originID is "turin"/,
    );
    // As it could be made before the webhooks were there.
    await rome.admin.create(NamespaceMap, spoofed);
    await until("the provider's administrator is told", async () =>
      (await rome.admin.list(Event, { namespace: atMilan("").namespace })).some(
        ({ involvedObject, reason, message = "" }) =>
          involvedObject.name === "spoofed" &&
          reason === "WrongNamespace" &&
          /liqo\.io\/originID is "turin".* tenant namespace of cluster "rome"/.test(message),
      ),
    );
    assert.equal(await rome.remote("hidden-spoofed"), undefined);
    assert.deepEqual(await rome.answers("spoofed"), {});
  });

  it("gets no more namespaces than milan's administrator gives", async () => {
    const limit = (value: string | null) =>
      rome.admin.patch(
        Namespace,
        { name: atMilan("").namespace },
        { metadata: { annotations: { "liqo.io/namespace-limit": value } } },
        { type: "merge" },
      );
    // Beside the one that it has.
    await limit("4");
    const many = Array.from({ length: 40 }, (_, at) => `flood-${at}`);
    await rome.ask(Object.fromEntries(many.map((name) => [name, name])));
    const phases = async () => {
      const answers = await rome.answers();
      return many.map((name) => answers[name]);
    };
    await until("all are answered", async () => (await phases()).every((phase) => phase !== undefined));
    assert.equal((await phases()).filter((phase) => phase === "Accepted").length, 3);
    const there = (await rome.admin.list(Namespace)).filter(({ metadata }) => many.includes(metadata.name));
    assert.equal(there.length, 3);
    const asked = await rome.admin.get(NamespaceMap, atMilan("milan"));
    const told = /waits: namespace flood-\d+ is not made: cluster "rome" gets 4 namespaces here/;
    await eventWith(rome.admin, asked ?? assert.fail(), "RemoteNamespaceTaken", told);
    await rome.ask(Object.fromEntries(many.map((name) => [name, null])));
    await limit(null);
  });

  it("keeps nothing when it is drained, whatever it made of its maps", async () => {
    const { "liqo.io/remote-cluster-id": _, ...unlabelled } = COPY;
    await rome.controlPlane.create(NamespaceMap, map("unlabelled", unlabelled, "hidden-unlabelled"));
    await rome.controlPlane.create(NamespaceMap, map("stripped", COPY, "hidden-stripped"));
    await rome.controlPlane.create(NamespaceMap, map("rome", COPY, "hidden-disguised"));
    const hidden = ["hidden-unlabelled", "hidden-stripped", "hidden-disguised"];
    for (const name of hidden) await until(name, () => rome.remote(name));
    await until("all maps have answers", async () => {
      const found = await Promise.all(["unlabelled", "stripped", "rome"].map((one) => rome.answers(one)));
      return found.every(({ hidden }) => hidden === "Accepted");
    });
    // One loses all that it is found by; the other turns into what a provider has of its own.
    const nothing = Object.fromEntries(Object.keys(COPY).map((key) => [key, null]));
    const edit = async (name: string, metadata: object) => {
      const patch = (client: KubeClient) =>
        client.patch(NamespaceMap, atMilan(name), { metadata }, { type: "merge" });
      assert.match(await refusal(patch(rome.controlPlane)), /denied the request/);
      // As it could be edited before the webhooks were there.
      await patch(rome.admin);
    };
    await edit("stripped", { labels: nothing, finalizers: null });
    await edit("rome", {
      labels: { ...nothing, "liqo.io/replication": "true", "liqo.io/remoteID": "rome" },
      finalizers: null,
    });
    await rome.admin.patch(Tenant, tenantOfRome, { spec: { tenantCondition: "Drained" } }, { type: "merge" });
    for (const name of ["shop-rome", ...hidden])
      await until(
        `${name} is on its way out`,
        async () => {
          const found = await rome.remote(name);
          return found === undefined || found.metadata.deletionTimestamp !== undefined;
        },
        { timeoutMs: 20_000 },
      );
    await until("the maps are gone", async () => {
      const left = await rome.admin.list(NamespaceMap, { namespace: atMilan("").namespace });
      return left.every(({ metadata }) => metadata.name === "rome");
    });
  });
});
