import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

import {
  type Desired,
  ForeignCluster,
  type KubeObject,
  Lease,
  Namespace,
  NamespaceMap,
  NamespaceOffloading,
  Node,
  Pod,
  RoleBinding,
  Secret,
  ShadowPod,
  VirtualNode,
} from "../../runtime/api";
import { type Controller, isNotFound, type KubeClient } from "../../runtime/kube";
import { offloadingControllers } from "../../runtime/offloading";
import { auditEvents, countRequests } from "../support/audit-log";
import { installDefinitions } from "../support/install-definitions";
import { installRoles, kubeconfigOf } from "../support/install-roles";
import { kindOf } from "../support/kind-of";
import { copyNamespaceMaps } from "../support/namespace-map-copy";
import { type TestContext, testContext } from "../support/runtime-context";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

const OFFLOADING = "offloading.liqo.io/v1beta1";
const PEER = "liqo.io/remote-cluster-id";
/** Tenant namespaces: of `milan` at `rome`, and of `rome` at `milan`. */
const AT_ROME = "liqo-tenant-milan";
const AT_MILAN = "tenant-of-rome";
const GRACE_MS = 2_000;

describe("offloading, from rome to milan", function () {
  this.timeout(60_000);
  const controlPlane = withControlPlanes({
    rome: { controllerManager: true, auditLog: true, serviceCidr: "10.97.0.0/16" },
    milan: { controllerManager: true, auditLog: true, serviceCidr: "10.98.0.0/16" },
  });
  let rome: TestContext;
  let milan: TestContext;
  let admin: { rome: KubeClient; milan: KubeClient };
  /** Kubeconfigs with the rights of the installation's controller manager, and no more. */
  let accounts: { rome: string; milan: string };
  let controllers: Controller[];
  /** Readiness of the nodes made here, told again as kubelets do: else Kubernetes takes them for lost. */
  const readiness = new Map<string, string>();
  let heartbeat: NodeJS.Timeout;

  before(async function () {
    this.timeout(120_000);
    const admins = {
      rome: testContext(controlPlane("rome").kubeconfig, "test"),
      milan: testContext(controlPlane("milan").kubeconfig, "test"),
    };
    admin = { rome: admins.rome.client, milan: admins.milan.client };
    await Promise.all([installDefinitions(admin.rome), installDefinitions(admin.milan)]);
    await make(admin.rome, namespace("liqo"));
    await make(admin.milan, namespace("liqo-system"));
    await Promise.all([installRoles(admin.rome, "liqo"), installRoles(admin.milan, "liqo-system")]);
    accounts = {
      rome: await kubeconfigOf(controlPlane("rome"), "liqo", "liqo-controller-manager"),
      milan: await kubeconfigOf(controlPlane("milan"), "liqo-system", "liqo-controller-manager"),
    };
    await make(admin.rome, namespace(AT_ROME, { "liqo.io/tenant-namespace": "true", [PEER]: "milan" }));
    await make(admin.milan, namespace(AT_MILAN, { "liqo.io/tenant-namespace": "true", [PEER]: "rome" }));
    await foreignCluster("milan");
    start();
    heartbeat = setInterval(() => {
      for (const [name, status] of readiness)
        writeReady(name, status).catch((error: unknown) => {
          if (isNotFound(error)) readiness.delete(name);
        });
    }, 10_000);
  });

  after(async () => {
    clearInterval(heartbeat);
    await rome.end();
    await milan.end();
    admin.rome.close();
    admin.milan.close();
  });

  function start(): void {
    rome = testContext(accounts.rome, "controller-manager");
    milan = testContext(accounts.milan, "controller-manager");
    controllers = [
      ...offloadingControllers(rome, { clusterID: "rome", namespaceMapGraceMs: GRACE_MS }),
      ...offloadingControllers(milan, { clusterID: "milan", nodeFailure: true }),
      copyNamespaceMaps({
        consumer: { context: rome, clusterId: "rome" },
        provider: { context: milan, clusterId: "milan" },
        tenantNamespace: AT_MILAN,
      }),
    ];
  }

  async function make(client: KubeClient, object: Desired<KubeObject>): Promise<KubeObject> {
    return await client.create(kindOf(object), object);
  }

  function namespace(name: string, labels: Record<string, string> = {}): Desired<KubeObject> {
    return { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
  }

  async function foreignCluster(name: string): Promise<void> {
    await make(admin.rome, {
      apiVersion: "core.liqo.io/v1beta1",
      kind: "ForeignCluster",
      metadata: { name, labels: { [PEER]: name } },
      spec: { clusterID: name },
    } as Desired<KubeObject>);
  }

  async function virtualNode(name: string, spec: object = {}): Promise<VirtualNode> {
    const object: Desired<VirtualNode> = {
      apiVersion: OFFLOADING,
      kind: "VirtualNode",
      metadata: { name, namespace: AT_ROME },
      spec: { clusterID: "milan", createNode: true, ...spec },
    };
    return await admin.rome.create(VirtualNode, object);
  }

  /** What the virtual kubelet makes. */
  async function node(name: string, labels: Record<string, string> = {}): Promise<void> {
    await make(admin.rome, {
      apiVersion: "v1",
      kind: "Node",
      metadata: {
        name,
        labels: { "liqo.io/type": "virtual-node", type: "virtual-kubelet", [PEER]: "milan", ...labels },
      },
    });
    await setReady(name, "True");
  }

  async function setReady(name: string, status: string): Promise<void> {
    readiness.set(name, status);
    await writeReady(name, status);
  }

  async function writeReady(name: string, status: string): Promise<void> {
    const now = new Date().toISOString();
    await admin.rome.patch(
      Node,
      { name },
      {
        status: {
          conditions: [
            {
              type: "Ready",
              status,
              reason: "Test",
              message: "",
              lastHeartbeatTime: now,
              lastTransitionTime: now,
            },
          ],
        },
      },
      { type: "strategic", subresource: "status" },
    );
  }

  async function offload(name: string, spec: object = {}): Promise<void> {
    await make(admin.rome, namespace(name));
    await make(admin.rome, {
      apiVersion: OFFLOADING,
      kind: "NamespaceOffloading",
      metadata: { name: "offloading", namespace: name },
      spec,
    } as Desired<KubeObject>);
  }

  const offloadingOf = (name: string) =>
    admin.rome.get(NamespaceOffloading, { name: "offloading", namespace: name });
  const phaseOf = async (name: string) => (await offloadingOf(name))?.status?.offloadingPhase;
  const mapOf = () => admin.rome.get(NamespaceMap, { name: "milan", namespace: AT_ROME });
  const untilPhase = (name: string, phase: string) =>
    until(`${name} is ${phase}`, async () => (await phaseOf(name)) === phase, { timeoutMs: 20_000 });
  const remote = (name: string) => admin.milan.get(Namespace, { name });
  const untilGone = (what: string, look: () => Promise<unknown>) =>
    until(`${what} is gone`, async () => (await look()) === undefined, { timeoutMs: 30_000 });
  const conditionOf = ({ status }: VirtualNode, type: string) =>
    status?.conditions?.find((condition) => condition.type === type)?.status;
  const vn = (name: string) => admin.rome.get(VirtualNode, { name, namespace: AT_ROME });

  async function release(name: string): Promise<void> {
    await admin.rome.delete(NamespaceOffloading, { name: "offloading", namespace: name });
  }

  async function unoffload(name: string): Promise<void> {
    await release(name);
    await untilGone(`the offloading of ${name}`, () => offloadingOf(name));
  }

  /** Requests that write, by our controllers, on both clusters. */
  function writes(from: number): [string, number][] {
    const events = ["rome" as const, "milan" as const].flatMap((name) => {
      const path = controlPlane(name).auditLogPath;
      return path === undefined ? [] : auditEvents(path, from);
    });
    return countRequests(
      events.filter(
        ({ verb, userAgent }) =>
          userAgent === "liqo-controller-manager" && !["get", "list", "watch"].includes(verb),
      ),
    );
  }

  describe("of namespaces", () => {
    before(async () => {
      await virtualNode("milan", { labels: { region: "B" } });
      await until("the map exists", mapOf);
    });

    it("brings a virtual node from Creating to Running when its Node is there", async () => {
      await until("the node is being created", async () => {
        const current = await vn("milan");
        return (
          current !== undefined &&
          conditionOf(current, "Node") === "Creating" &&
          conditionOf(current, "VirtualKubelet") === "Running"
        );
      });
      const begin = performance.now();
      await node("milan", { region: "B" });
      const current = await until("the node runs", async () => {
        const now = await vn("milan");
        return now !== undefined && conditionOf(now, "Node") === "Running" ? now : undefined;
      });
      assert.ok(performance.now() - begin < 3_000);
      assert.deepEqual(
        current.status?.conditions?.map(({ type }) => type),
        ["VirtualKubelet", "Node"],
      );
      assert.equal(current.metadata.labels?.[PEER], "milan");
      assert.deepEqual((await mapOf())?.metadata.labels, {
        [PEER]: "milan",
        "liqo.io/replication": "true",
        "liqo.io/remoteID": "milan",
      });
    });

    const strategies: [local: string, spec: object, remoteName: string, label: string | undefined][] = [
      ["s-default", {}, "s-default-rome", "true"],
      [
        "s-same",
        { namespaceMappingStrategy: "EnforceSameName", podOffloadingStrategy: "Remote" },
        "s-same",
        "true",
      ],
      [
        "s-selected",
        {
          namespaceMappingStrategy: "SelectedName",
          remoteNamespaceName: "boutique",
          podOffloadingStrategy: "Local",
        },
        "boutique",
        undefined,
      ],
    ];
    it("makes remote namespaces by the mapping strategies, and takes them back", async () => {
      const there = async ([local, spec, remoteName, label]: (typeof strategies)[number]) => {
        const begin = performance.now();
        await offload(local, spec);
        await untilPhase(local, "Ready");
        assert.ok(performance.now() - begin < 5_000, "within five seconds");
        const offloading = await offloadingOf(local);
        assert.equal(offloading?.status?.observedGeneration, offloading?.metadata.generation);
        assert.equal(offloading?.status?.remoteNamespaceName, remoteName);
        assert.deepEqual(
          offloading?.status?.remoteNamespacesConditions?.milan?.map(
            ({ type, status, reason }) => `${type}=${status} ${reason}`,
          ),
          ["OffloadingRequired=True ClusterSelected", "Ready=True NamespaceCreated"],
        );
        const made = await remote(remoteName);
        assert.equal(made?.metadata.labels?.[PEER], "rome");
        assert.equal(made.metadata.annotations?.["liqo.io/managed-by-namespace-map"], `${AT_MILAN}/milan`);
        assert.equal(made.metadata.annotations?.["liqo.io/original-name"], local);
        const binding = await admin.milan.get(RoleBinding, { name: AT_MILAN, namespace: remoteName });
        assert.deepEqual(binding?.subjects, [
          { kind: "Group", apiGroup: "rbac.authorization.k8s.io", name: "rome" },
        ]);
        assert.equal(binding.roleRef.name, "liqo-virtual-kubelet-remote");
        const labelled = await admin.rome.get(Namespace, { name: local });
        assert.equal(labelled?.metadata.labels?.["liqo.io/scheduling-enabled"], label);

        await unoffload(local);
        await untilGone(remoteName, () => remote(remoteName));
        const map = await mapOf();
        assert.equal(map?.spec.desiredMapping?.[local], undefined);
        assert.equal(map?.status?.currentMapping?.[local], undefined);
        const after = await admin.rome.get(Namespace, { name: local });
        assert.equal(after?.metadata.labels?.["liqo.io/scheduling-enabled"], undefined);
      };
      await Promise.all(strategies.map(there));
    });

    it("follows the selector, the strategy and the labels of the node", async () => {
      const inA = {
        clusterSelector: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: "region", operator: "In", values: ["A"] }] }],
        },
      };
      await offload("picky", inA);
      await untilPhase("picky", "NoClusterSelected");
      assert.equal(await remote("picky-rome"), undefined);
      await admin.rome.patch(
        Node,
        { name: "milan" },
        { metadata: { labels: { region: "A" } } },
        { type: "merge" },
      );
      await untilPhase("picky", "Ready");
      await admin.rome.patch(
        NamespaceOffloading,
        { name: "offloading", namespace: "picky" },
        { spec: { podOffloadingStrategy: "Local" } },
        { type: "merge" },
      );
      await until(
        "the label is gone",
        async () =>
          (await admin.rome.get(Namespace, { name: "picky" }))?.metadata.labels?.[
            "liqo.io/scheduling-enabled"
          ] === undefined,
      );
      await admin.rome.patch(
        Node,
        { name: "milan" },
        { metadata: { labels: { region: "B" } } },
        { type: "merge" },
      );
      await untilPhase("picky", "NoClusterSelected");
      await untilGone("picky-rome", () => remote("picky-rome"));
      await release("picky");
    });

    it("counts several virtual nodes of one cluster as one that any of them selects", async () => {
      await virtualNode("milan-2", { labels: { region: "C" }, createNode: false });
      const inC = {
        clusterSelector: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: "region", operator: "In", values: ["C"] }] }],
        },
      };
      await offload("either", inC);
      await untilPhase("either", "Ready");
      await admin.rome.delete(VirtualNode, { name: "milan-2", namespace: AT_ROME });
      await untilGone("milan-2", () => vn("milan-2"));
      await untilPhase("either", "NoClusterSelected");
      await release("either");
    });

    it("says what is wrong with a selector, and goes on when it is right", async () => {
      await offload("wrong", {
        clusterSelector: { nodeSelectorTerms: [{ matchExpressions: [{ key: "region", operator: "In" }] }] },
      });
      const event = await until("the event", async () => {
        const { body } = await admin.rome.raw({ path: "/api/v1/namespaces/wrong/events" });
        const text = body.toString();
        return text.includes(
          "Invalid ClusterSelector: nodeSelectorTerms[0].matchExpressions[0].values: empty",
        )
          ? text
          : undefined;
      });
      assert.ok(event.includes('"reason":"Invalid"'));
      await admin.rome.patch(
        NamespaceOffloading,
        { name: "offloading", namespace: "wrong" },
        { spec: { clusterSelector: null } },
        { type: "merge" },
      );
      await untilPhase("wrong", "Ready");
      await release("wrong");
    });

    it("leaves a namespace alone that is somebody else's, and takes it when it is free", async () => {
      await make(admin.milan, namespace("taken"));
      await offload("taken", { namespaceMappingStrategy: "EnforceSameName" });
      await untilPhase("taken", "AllFailed");
      assert.equal((await mapOf())?.status?.currentMapping?.taken?.phase, "CreationLoopBackOff");
      assert.equal(
        (await remote("taken"))?.metadata.annotations?.["liqo.io/managed-by-namespace-map"],
        undefined,
      );
      await admin.milan.delete(Namespace, { name: "taken" });
      await untilPhase("taken", "Ready");
      assert.ok((await remote("taken"))?.metadata.annotations?.["liqo.io/managed-by-namespace-map"]);
      await release("taken");
    });

    it("brings a remote namespace back that somebody deletes, and its binding", async () => {
      await offload("lost");
      await untilPhase("lost", "Ready");
      const before = await remote("lost-rome");
      await admin.milan.delete(RoleBinding, { name: AT_MILAN, namespace: "lost-rome" });
      await until("the binding is back", () =>
        admin.milan.get(RoleBinding, { name: AT_MILAN, namespace: "lost-rome" }),
      );
      await admin.milan.delete(Namespace, { name: "lost-rome" });
      await until("another namespace", async () => {
        const now = await remote("lost-rome");
        return now !== undefined && now.metadata.uid !== before?.metadata.uid;
      });
      await release("lost");
    });

    it("lets go of everything when the namespace itself is deleted", async () => {
      await offload("whole");
      await untilPhase("whole", "Ready");
      await admin.rome.delete(Namespace, { name: "whole" });
      await untilGone("whole", () => admin.rome.get(Namespace, { name: "whole" }));
      await untilGone("whole-rome", () => remote("whole-rome"));
    });

    it("writes nothing when nothing changes, nor after a restart", async () => {
      await offload("calm");
      await untilPhase("calm", "Ready");
      await until("all is quiet", () => controllers.every(({ idle }) => idle));
      await Promise.all([rome.end(), milan.end()]);
      await pause(300); // audit logs are written in batches
      const begin = Date.now();
      start();
      await until("all have started", () => controllers.every(({ started }) => started));
      await until("all is quiet again", () => controllers.every(({ idle }) => idle));
      await pause(1_500);
      assert.deepEqual(writes(begin), []);
      await unoffload("calm");
    });

    it("keeps what is offloaded while a virtual node of a peering is replaced", async () => {
      await make(admin.rome, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: {
          name: "kubeconfig-controlplane-milan",
          namespace: AT_ROME,
          labels: { [PEER]: "milan", "liqo.io/identity-type": "ControlPlane" },
        },
      });
      await offload("kept");
      await untilPhase("kept", "Ready");
      const before = await remote("kept-rome");
      await admin.rome.delete(VirtualNode, { name: "milan", namespace: AT_ROME });
      await untilGone("milan", () => vn("milan"));
      assert.equal(await admin.rome.get(Node, { name: "milan" }), undefined);
      await pause(GRACE_MS / 2);
      await virtualNode("milan");
      await pause(GRACE_MS);
      assert.equal((await remote("kept-rome"))?.metadata.uid, before?.metadata.uid);
      assert.equal(await phaseOf("kept"), "Ready");
    });

    it("removes the map some time after the last virtual node, and with it the remote namespaces", async () => {
      await admin.rome.delete(VirtualNode, { name: "milan", namespace: AT_ROME });
      await untilGone("milan", () => vn("milan"));
      assert.ok(await mapOf());
      await untilGone("the map", mapOf);
      await untilGone("kept-rome", () => remote("kept-rome"));
      await untilPhase("kept", "NoClusterSelected");
      await virtualNode("milan");
      await untilPhase("kept", "Ready");
    });

    it("removes the map at once when the peering ends", async () => {
      await admin.rome.delete(VirtualNode, { name: "milan", namespace: AT_ROME });
      await untilGone("milan", () => vn("milan"));
      await admin.rome.delete(Secret, { name: "kubeconfig-controlplane-milan", namespace: AT_ROME });
      await until(
        "the map is on its way out",
        async () => {
          const map = await mapOf();
          return map === undefined || typeof map.metadata.deletionTimestamp === "string";
        },
        { timeoutMs: GRACE_MS / 2 },
      );
      await release("kept");
    });
  });

  describe("of ShadowPods", () => {
    const spaceLabels = { [PEER]: "rome" };
    before(async () => {
      await make(admin.milan, namespace("shop-rome", spaceLabels));
      await make(admin.milan, {
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: { name: "default", namespace: "shop-rome" },
      }).catch(() => undefined);
    });

    const ref = (name: string) => ({ name, namespace: "shop-rome" });
    const podOf = (name: string) => admin.milan.get(Pod, ref(name));
    const shadowOf = (name: string) => admin.milan.get(ShadowPod, ref(name));
    const setPhase = (name: string, phase: string, conditions: object[] = []) =>
      admin.milan.patch(
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
      return await admin.milan.create(ShadowPod, object);
    }

    it("makes the pod in one request, and tells when it runs in one more", async () => {
      await until("all is quiet", () => controllers.every(({ idle }) => idle));
      await pause(300);
      const begin = Date.now();
      const shadow = await shadowPod("a");
      const pod = await until("the pod exists", () => podOf("a"));
      assert.deepEqual(pod.metadata.labels, { ...shadow.metadata.labels, "liqo.io/managed-by": "shadowpod" });
      assert.deepEqual(pod.metadata.annotations, { note: "1" });
      assert.equal(pod.metadata.ownerReferences?.[0]?.uid, shadow.metadata.uid);
      assert.equal(pod.metadata.ownerReferences?.[0]?.controller, true);
      await setPhase("a", "Running", [{ type: "Ready", status: "False" }]);
      await until("the phase is told", async () => (await shadowOf("a"))?.status?.phase === "Running");
      await setPhase("a", "Running", [{ type: "Ready", status: "True" }]);
      await pause(1_500);
      assert.deepEqual(writes(begin), [
        ["create pods", 1],
        ["patch shadowpods/status", 1],
      ]);
    });

    it("carries changes of labels and annotations, removals too, and leaves the provider's own", async () => {
      await admin.milan.patch(
        Pod,
        ref("a"),
        { metadata: { labels: { injected: "x" }, annotations: { cni: "y" } } },
        { type: "merge" },
      );
      const edit = (metadata: object) =>
        admin.milan.patch(ShadowPod, ref("a"), { metadata }, { type: "merge" });
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
      await Promise.all([rome.end(), milan.end()]);
      await admin.milan.patch(
        ShadowPod,
        ref("a"),
        { metadata: { labels: { tier: null } } },
        { type: "merge" },
      );
      start();
      await until("the label is gone", async () => (await podOf("a"))?.metadata.labels?.tier === undefined);
      assert.equal((await podOf("a"))?.metadata.labels?.injected, "x");
    });

    it("makes a pod anew that goes without having ended", async () => {
      const before = await podOf("a");
      await admin.milan.delete(Pod, ref("a"), { gracePeriodSeconds: 0 });
      await until("another pod", async () => {
        const now = await podOf("a");
        return now !== undefined && now.metadata.uid !== before?.metadata.uid;
      });
      assert.equal((await shadowOf("a"))?.status?.phase, "Running");
    });

    it("does not take a deletion for an end", async () => {
      const before = await podOf("a");
      await admin.milan.patch(
        Pod,
        ref("a"),
        { metadata: { finalizers: ["example.org/held"] } },
        { type: "merge" },
      );
      await admin.milan.delete(Pod, ref("a"), { gracePeriodSeconds: 0 });
      await setPhase("a", "Failed"); // as kubelets do before they let go
      await pause(500);
      await admin.milan.patch(Pod, ref("a"), { metadata: { finalizers: null } }, { type: "merge" });
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
      await admin.milan.delete(Pod, ref("job"), { gracePeriodSeconds: 0 });
      await pause(1_000);
      assert.equal(await podOf("job"), undefined);
      assert.equal((await shadowOf("job"))?.status?.phase, "Succeeded");
    });

    it("takes the pod along", async () => {
      await admin.milan.delete(ShadowPod, ref("a"));
      await untilGone("the pod", () => podOf("a"));
    });

    it("never touches a pod that is not its own, and takes its turn afterwards", async () => {
      const own: Desired<Pod> = {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { ...ref("mine"), labels: { own: "1" } },
        spec: { containers: [{ name: "x", image: "x:1" }], automountServiceAccountToken: false },
      };
      const before = await admin.milan.create(Pod, own);
      await shadowPod("mine");
      await until("the event", async () => {
        const { body } = await admin.milan.raw({ path: "/api/v1/namespaces/shop-rome/events" });
        return body
          .toString()
          .includes("a pod of that name exists and belongs to nobody, not to this ShadowPod");
      });
      const after = await podOf("mine");
      assert.deepEqual(after?.metadata.labels, { own: "1" });
      assert.equal(after.metadata.resourceVersion, before.metadata.resourceVersion);
      await admin.milan.delete(Pod, ref("mine"), { gracePeriodSeconds: 0 });
      await until(
        "its own pod",
        async () => (await podOf("mine"))?.metadata.labels?.["liqo.io/managed-by"] === "shadowpod",
        { timeoutMs: 30_000 },
      );
      await admin.milan.delete(ShadowPod, ref("mine"));
    });

    it("replaces the pod of an earlier ShadowPod of the name", async () => {
      await shadowPod("again");
      const first = await until("the pod exists", () => podOf("again"));
      await admin.milan.delete(ShadowPod, ref("again"));
      const second = await shadowPod("again");
      await until("the second's pod", async () => {
        const now = await podOf("again");
        return (
          now?.metadata.uid !== first.metadata.uid &&
          now?.metadata.ownerReferences?.[0]?.uid === second.metadata.uid
        );
      });
      await admin.milan.delete(ShadowPod, ref("again"));
    });

    it("makes 300 pods with one request each", async () => {
      await until("all is quiet", () => controllers.every(({ idle }) => idle));
      await pause(300);
      const begin = Date.now();
      const names = Array.from({ length: 300 }, (_, at) => `mass-${at}`);
      await Promise.all(names.map((name) => shadowPod(name)));
      const pods = () =>
        admin.milan.list(Pod, { namespace: "shop-rome", labelSelector: "liqo.io/managed-by=shadowpod" });
      await until(
        "all pods exist",
        async () => (await pods()).filter(({ metadata }) => metadata.name.startsWith("mass-")).length === 300,
        { everyMs: 100 },
      );
      await pause(1_500);
      assert.deepEqual(writes(begin), [["create pods", 300]]);
      await Promise.all(names.map((name) => admin.milan.delete(ShadowPod, ref(name))));
    });

    it("frees pods that a lost node holds, where that is asked for", async () => {
      await make(admin.milan, { apiVersion: "v1", kind: "Node", metadata: { name: "worker-1" } });
      const ready = (status: string) =>
        admin.milan.patch(
          Node,
          { name: "worker-1" },
          {
            status: {
              conditions: [
                {
                  type: "Ready",
                  status,
                  reason: "Test",
                  message: "",
                  lastHeartbeatTime: new Date().toISOString(),
                  lastTransitionTime: new Date().toISOString(),
                },
              ],
            },
          },
          { type: "strategic", subresource: "status" },
        );
      await ready("True");
      await shadowPod("stuck");
      const before = await until("the pod exists", () => podOf("stuck"));
      await admin.milan.createSubresource(
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
      await admin.milan.delete(Pod, ref("stuck"));
      await pause(500);
      assert.equal(
        (await podOf("stuck"))?.metadata.uid,
        before.metadata.uid,
        "a node that is ready ends its pods itself",
      );
      await ready("Unknown");
      await until("another pod", async () => {
        const now = await podOf("stuck");
        return now !== undefined && now.metadata.uid !== before.metadata.uid;
      });
      await admin.milan.delete(ShadowPod, ref("stuck"));
    });
  });

  describe("of virtual nodes", () => {
    const podOn = async (name: string, nodeName: string, more: object = {}): Promise<Pod> => {
      const object: Desired<Pod> = {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name, namespace: "busy", labels: { app: "busy", "liqo.io/shadowPod": "true" }, ...more },
        spec: {
          nodeName,
          containers: [{ name: "web", image: "web:1" }],
          automountServiceAccountToken: false,
          terminationGracePeriodSeconds: 5,
          tolerations: [{ operator: "Exists" }],
        },
      };
      const made = await admin.rome.create(Pod, object);
      const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
      await admin.rome.patch(Pod, made.metadata, { status }, { type: "merge", subresource: "status" });
      return made;
    };
    const pod = (name: string) => admin.rome.get(Pod, { name, namespace: "busy" });
    const end = (name: string) =>
      admin.rome.delete(Pod, { name, namespace: "busy" }, { gracePeriodSeconds: 0 });
    const isTerminating = async (name: string) =>
      typeof (await pod(name))?.metadata.deletionTimestamp === "string";

    before(async () => {
      await make(admin.rome, namespace("busy"));
      await make(admin.rome, {
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: { name: "default", namespace: "busy" },
      }).catch(() => undefined);
    });

    it("labels the pods of a node that is not ready, those too that come later, and takes the label back", async () => {
      await virtualNode("flaky");
      await node("flaky");
      await podOn("web-0", "flaky");
      const label = async (name: string) =>
        (await pod(name))?.metadata.labels?.["liqo.io/remote-unavailable"];
      await setReady("flaky", "False");
      await until("the pod is labelled", async () => (await label("web-0")) === "true");
      await podOn("web-1", "flaky");
      await until("the later pod is labelled", async () => (await label("web-1")) === "true", {
        timeoutMs: 15_000,
      });
      await setReady("flaky", "True");
      await until(
        "the labels are gone",
        async () => (await label("web-0")) === undefined && (await label("web-1")) === undefined,
      );
      await end("web-0");
      await end("web-1");
    });

    it("empties a node by eviction before it goes, respects budgets, and is held up by no other", async () => {
      const budget = {
        apiVersion: "policy/v1",
        kind: "PodDisruptionBudget",
        metadata: { name: "busy", namespace: "busy" },
        spec: { minAvailable: 1, selector: { matchLabels: { app: "busy" } } },
      };
      await admin.rome.raw({
        method: "POST",
        path: "/apis/policy/v1/namespaces/busy/poddisruptionbudgets",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(budget),
      });
      await podOn("guarded", "flaky");
      await podOn("daemon", "flaky", {
        labels: {},
        ownerReferences: [
          {
            apiVersion: "apps/v1",
            kind: "DaemonSet",
            name: "d",
            uid: "0b5e0f4e-9d1f-4c55-8f5f-3e3f7d3c9a11",
            controller: true,
          },
        ],
      });
      await until("the budget is counted", async () => {
        const { body } = await admin.rome.raw({
          path: "/apis/policy/v1/namespaces/busy/poddisruptionbudgets/busy",
        });
        return /"currentHealthy":1/.test(body.toString());
      });
      await make(admin.rome, {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { name: "flaky", namespace: AT_ROME },
        spec: {
          holderIdentity: "virtual-kubelet-0",
          leaseDurationSeconds: 60,
          renewTime: new Date().toISOString().replace("Z", "000Z"),
        },
      } as Desired<KubeObject>);
      await virtualNode("other");
      await node("other");

      await admin.rome.delete(VirtualNode, { name: "flaky", namespace: AT_ROME });
      await until(
        "the node is cordoned",
        async () => (await admin.rome.get(Node, { name: "flaky" }))?.spec.unschedulable === true,
      );
      await until("draining", async () => {
        const now = await vn("flaky");
        return now !== undefined && conditionOf(now, "Node") === "Draining";
      });
      await pause(1_000);
      assert.equal(await isTerminating("guarded"), false);

      const begin = performance.now();
      await admin.rome.delete(VirtualNode, { name: "other", namespace: AT_ROME });
      await untilGone("the other node", () => vn("other"));
      assert.ok(performance.now() - begin < 5_000);

      await podOn("spare", "elsewhere");
      await until("the pod is asked to leave", () => isTerminating("guarded"), { timeoutMs: 20_000 });
      assert.ok(await admin.rome.get(Node, { name: "flaky" }), "the node waits for its pods");
      await end("guarded");
      await until("the virtual kubelet is asked to let go", async () => {
        const now = await vn("flaky");
        return now !== undefined && conditionOf(now, "VirtualKubelet") === "Deleting";
      });
      await pause(500);
      assert.ok(await admin.rome.get(Node, { name: "flaky" }), "the node waits for its virtual kubelet");
      await admin.rome.patch(
        Lease,
        { name: "flaky", namespace: AT_ROME },
        { spec: { holderIdentity: "" } },
        { type: "merge" },
      );
      await untilGone("the virtual node", () => vn("flaky"));
      assert.equal(await admin.rome.get(Node, { name: "flaky" }), undefined);
      await end("spare");
      await end("daemon").catch((error: unknown) => assert.ok(isNotFound(error)));
    });

    it("removes pods at once when the peer is declared dead", async () => {
      await virtualNode("dead");
      await node("dead");
      await podOn("lonely", "dead");
      await admin.rome.patch(
        ForeignCluster,
        { name: "milan" },
        { metadata: { annotations: { "liqo.io/foreign-cluster-permanently-unreachable": "true" } } },
        { type: "merge" },
      );
      await admin.rome.delete(VirtualNode, { name: "dead", namespace: AT_ROME });
      await untilGone("the virtual node", () => vn("dead"));
      assert.equal(await pod("lonely"), undefined);
      await admin.rome.patch(
        ForeignCluster,
        { name: "milan" },
        { metadata: { annotations: { "liqo.io/foreign-cluster-permanently-unreachable": null } } },
        { type: "merge" },
      );
    });

    it("takes the Node away with createNode=false, spares one that a user made, and can be deleted without any", async () => {
      await virtualNode("headless");
      await node("headless");
      await until("running", async () => {
        const now = await vn("headless");
        return now !== undefined && conditionOf(now, "Node") === "Running";
      });
      await admin.rome.patch(
        VirtualNode,
        { name: "headless", namespace: AT_ROME },
        { spec: { createNode: false } },
        { type: "merge" },
      );
      await untilGone("the node", () => admin.rome.get(Node, { name: "headless" }));
      await until("none", async () => {
        const now = await vn("headless");
        return now !== undefined && conditionOf(now, "Node") === "None";
      });
      await make(admin.rome, {
        apiVersion: "v1",
        kind: "Node",
        metadata: { name: "headless", labels: { "liqo.io/type": "virtual-node" } },
      });
      await pause(500);
      await admin.rome.delete(VirtualNode, { name: "headless", namespace: AT_ROME });
      await untilGone("the virtual node", () => vn("headless"));
      assert.ok(await admin.rome.get(Node, { name: "headless" }));
      await admin.rome.delete(Node, { name: "headless" });
    });
  });
});
