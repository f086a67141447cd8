import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

import {
  Event,
  Namespace,
  NamespaceMap,
  NamespaceOffloading,
  Node,
  RoleBinding,
  Secret,
} from "../../runtime/api";
import {
  AT_MILAN,
  AT_ROME,
  GRACE_MS,
  OFFLOADING,
  OffloadingClusters,
  PEER,
} from "../support/offloading-clusters";
import { until } from "../support/until";

describe("offloading of namespaces, from rome to milan", function () {
  this.timeout(120_000);
  const clusters = OffloadingClusters.forSuite();
  const rome = () => clusters().admin.rome;
  const milan = () => clusters().admin.milan;

  const offload = (name: string, spec: object = {}) => clusters().offload(name, spec);
  const release = (name: string) =>
    rome().delete(NamespaceOffloading, { name: "offloading", namespace: name });
  const unoffload = async (name: string) => {
    await release(name);
    await clusters().untilGone(`the offloading of ${name}`, () => offloadingOf(name));
  };
  const offloadingOf = (name: string) =>
    rome().get(NamespaceOffloading, { name: "offloading", namespace: name });
  const phaseOf = async (name: string) => (await offloadingOf(name))?.status?.offloadingPhase;
  const untilPhase = (name: string, phase: string) =>
    until(`${name} is ${phase}`, async () => (await phaseOf(name)) === phase, { timeoutMs: 20_000 });
  const mapOf = () => rome().get(NamespaceMap, { name: "milan", namespace: AT_ROME });
  const remote = (name: string) => milan().get(Namespace, { name });

  before(async () => {
    await clusters().makeVirtualNode("milan", { labels: { region: "B" } });
    await until("the map exists", mapOf);
  });

  it("brings a virtual node from Creating to Running when its Node is there", async () => {
    await until(
      "the node is being created",
      async () => (await clusters().condition("milan", "Node")) === "Creating",
    );
    await until(
      "its virtual kubelet runs",
      async () => (await clusters().condition("milan", "VirtualKubelet")) === "Running",
    );
    const begin = performance.now();
    await clusters().makeNode("milan", { region: "B" });
    await until("the node runs", async () => (await clusters().condition("milan", "Node")) === "Running");
    assert.ok(performance.now() - begin < 10_000, "by an event, not by looking again");
    const current = await clusters().virtualNode("milan");
    assert.deepEqual(
      current?.status?.conditions?.map(({ type }) => type),
      ["VirtualKubelet", "Node"],
    );
    assert.equal(current?.metadata.labels?.[PEER], "milan");
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
      const binding = await milan().get(RoleBinding, { name: AT_MILAN, namespace: remoteName });
      assert.deepEqual(binding?.subjects, [
        { kind: "Group", apiGroup: "rbac.authorization.k8s.io", name: "rome" },
      ]);
      assert.equal(binding.roleRef.name, "liqo-virtual-kubelet-remote");
      const labelled = await rome().get(Namespace, { name: local });
      assert.equal(labelled?.metadata.labels?.["liqo.io/scheduling-enabled"], label);

      await unoffload(local);
      await clusters().untilGone(remoteName, () => remote(remoteName));
      const map = await mapOf();
      assert.equal(map?.spec.desiredMapping?.[local], undefined);
      assert.equal(map?.status?.currentMapping?.[local], undefined);
      const after = await rome().get(Namespace, { name: local });
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
    await rome().patch(Node, { name: "milan" }, { metadata: { labels: { region: "A" } } }, { type: "merge" });
    await untilPhase("picky", "Ready");
    await rome().patch(
      NamespaceOffloading,
      { name: "offloading", namespace: "picky" },
      { spec: { podOffloadingStrategy: "Local" } },
      { type: "merge" },
    );
    await until(
      "the label is gone",
      async () =>
        (await rome().get(Namespace, { name: "picky" }))?.metadata.labels?.["liqo.io/scheduling-enabled"] ===
        undefined,
    );
    await rome().patch(Node, { name: "milan" }, { metadata: { labels: { region: "B" } } }, { type: "merge" });
    await untilPhase("picky", "NoClusterSelected");
    await clusters().untilGone("picky-rome", () => remote("picky-rome"));
    await release("picky");
  });

  it("counts several virtual nodes of one cluster as one that any of them selects", async () => {
    await clusters().makeVirtualNode("milan-2", { labels: { region: "C" }, createNode: false });
    const inC = {
      clusterSelector: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: "region", operator: "In", values: ["C"] }] }],
      },
    };
    await offload("either", inC);
    await untilPhase("either", "Ready");
    await clusters().deleteVirtualNode("milan-2");
    await clusters().untilGone("milan-2", () => clusters().virtualNode("milan-2"));
    await untilPhase("either", "NoClusterSelected");
    await release("either");
  });

  it("says what is wrong with a selector, and goes on when it is right", async () => {
    await offload("wrong", {
      clusterSelector: { nodeSelectorTerms: [{ matchExpressions: [{ key: "region", operator: "In" }] }] },
    });
    const event = await until("the event", async () => {
      const { body } = await rome().raw({ path: "/api/v1/namespaces/wrong/events" });
      const text = body.toString();
      return text.includes("Invalid ClusterSelector: nodeSelectorTerms[0].matchExpressions[0].values: empty")
        ? text
        : undefined;
    });
    assert.ok(event.includes('"reason":"Invalid"'));
    await rome().patch(
      NamespaceOffloading,
      { name: "offloading", namespace: "wrong" },
      { spec: { clusterSelector: null } },
      { type: "merge" },
    );
    await untilPhase("wrong", "Ready");
    await release("wrong");
  });

  it("leaves a namespace alone that is somebody else's, and takes it when it is free", async () => {
    await clusters().makeNamespace("milan", "taken");
    await offload("taken", { namespaceMappingStrategy: "EnforceSameName" });
    await untilPhase("taken", "AllFailed");
    assert.equal((await mapOf())?.status?.currentMapping?.taken?.phase, "CreationLoopBackOff");
    const conditions = (await offloadingOf("taken"))?.status?.remoteNamespacesConditions?.milan;
    assert.match(
      conditions?.find(({ type }) => type === "Ready")?.message ?? "",
      /could not create the namespace "taken", .*belongs to somebody else; have the provider delete that one/,
    );
    assert.equal(
      (await remote("taken"))?.metadata.annotations?.["liqo.io/managed-by-namespace-map"],
      undefined,
    );
    const told = async () =>
      (
        await milan().list(Event, { namespace: AT_MILAN, fieldSelector: "reason=RemoteNamespaceTaken" })
      ).filter(({ message }) => message?.startsWith('namespace "taken" of cluster "rome" waits: '));
    await until("the provider is told", async () => (await told()).length > 0);
    // The map is looked at again, with nothing new to tell of this entry.
    await offload("meanwhile");
    await untilPhase("meanwhile", "Ready");
    await release("meanwhile");
    const events = await told();
    assert.deepEqual(
      events.map(({ type, count, involvedObject }) => [type, count, involvedObject?.kind]),
      [["Warning", 1, "NamespaceMap"]],
    );
    assert.match(
      events[0]?.message ?? "",
      /namespace taken exists .*delete it, or offload under another name/,
    );
    await milan().delete(Namespace, { name: "taken" });
    await untilPhase("taken", "Ready");
    assert.ok((await remote("taken"))?.metadata.annotations?.["liqo.io/managed-by-namespace-map"]);
    await release("taken");
  });

  it("never gives two namespaces one remote namespace, and lets the second go on when the first is taken back", async () => {
    const asShop = { namespaceMappingStrategy: "SelectedName", remoteNamespaceName: "twin-rome" };
    await offload("twin");
    await untilPhase("twin", "Ready");
    const first = await remote("twin-rome");
    await offload("beside", asShop);
    await untilPhase("beside", "AllFailed");
    const ready = (await offloadingOf("beside"))?.status?.remoteNamespacesConditions?.milan?.[1];
    assert.equal(`${ready?.type}=${ready?.status} ${ready?.reason}`, "Ready=False RemoteNamespaceTaken");
    await until("the event names both, the remote name, the provider and the way out", async () => {
      const { body } = await rome().raw({ path: "/api/v1/namespaces/beside/events" });
      const text = body.toString().replaceAll('\\"', "'");
      return (
        text.includes('"reason":"RemoteNamespaceTaken"') &&
        text.includes(
          "NamespaceOffloading 'beside/offloading': the remote namespace 'twin-rome' at cluster 'milan' is that of namespace 'twin'",
        ) &&
        text.includes("another remoteNamespaceName")
      );
    });
    assert.equal((await mapOf())?.spec.desiredMapping?.beside, undefined);
    assert.equal(await phaseOf("twin"), "Ready");

    await release("twin");
    await untilPhase("beside", "Ready");
    const second = await remote("twin-rome");
    assert.notEqual(second?.metadata.uid, first?.metadata.uid, "what the first left is gone");
    assert.equal(second?.metadata.annotations?.["liqo.io/original-name"], "beside");
    await unoffload("beside");
    await clusters().untilGone("twin-rome", () => remote("twin-rome"));
  });

  it("refuses a second entry of the same remote name in the map of a consumer, and keeps the first", async () => {
    const enter = (desiredMapping: object) =>
      milan().patch(
        NamespaceMap,
        { name: "other", namespace: AT_MILAN },
        { spec: { desiredMapping } },
        { type: "merge" },
      );
    const phases = async () => {
      const map = await milan().get(NamespaceMap, { name: "other", namespace: AT_MILAN });
      const current = Object.entries(map?.status?.currentMapping ?? {});
      return current
        .map(([local, { phase }]) => `${local}=${phase}`)
        .sort()
        .join();
    };
    const untilPhases = (expected: string) =>
      until(expected, async () => (await phases()) === expected, { timeoutMs: 30_000 });
    await milan().create(NamespaceMap, {
      apiVersion: OFFLOADING,
      kind: "NamespaceMap",
      metadata: {
        name: "other",
        namespace: AT_MILAN,
        labels: { "liqo.io/replicated": "true", "liqo.io/originID": "rome", [PEER]: "rome" },
      },
      spec: { desiredMapping: { tea: "tea-rome" } },
    });
    await untilPhases("tea=Accepted");
    const first = (await remote("tea-rome"))?.metadata.uid;
    await enter({ alpha: "tea-rome" });
    await untilPhases("alpha=CreationLoopBackOff,tea=Accepted");
    await enter({ alpha: null });
    await untilPhases("tea=Accepted");
    assert.equal((await remote("tea-rome"))?.metadata.uid, first);
    await enter({ alpha: "tea-rome" });
    await untilPhases("alpha=CreationLoopBackOff,tea=Accepted");
    await enter({ tea: null });
    await untilPhases("alpha=Accepted");
    assert.notEqual((await remote("tea-rome"))?.metadata.uid, first);
    await milan().delete(NamespaceMap, { name: "other", namespace: AT_MILAN });
    await clusters().untilGone("tea-rome", () => remote("tea-rome"));
  });

  it("brings a remote namespace back that somebody deletes, and its binding", async () => {
    await offload("lost");
    await untilPhase("lost", "Ready");
    const before = await remote("lost-rome");
    await milan().delete(RoleBinding, { name: AT_MILAN, namespace: "lost-rome" });
    await until("the binding is back", () =>
      milan().get(RoleBinding, { name: AT_MILAN, namespace: "lost-rome" }),
    );
    await milan().delete(Namespace, { name: "lost-rome" });
    await until("another namespace", async () => {
      const now = await remote("lost-rome");
      return now !== undefined && now.metadata.uid !== before?.metadata.uid;
    });
    await release("lost");
  });

  it("lets go of everything when the namespace itself is deleted", async () => {
    await offload("whole");
    await untilPhase("whole", "Ready");
    await rome().delete(Namespace, { name: "whole" });
    await clusters().untilGone("whole", () => rome().get(Namespace, { name: "whole" }));
    await clusters().untilGone("whole-rome", () => remote("whole-rome"));
  });

  it("writes nothing when nothing changes, nor after a restart", async () => {
    await offload("calm");
    await untilPhase("calm", "Ready");
    await clusters().quiet();
    await clusters().stop();
    const begin = Date.now();
    clusters().start();
    await clusters().quiet();
    assert.deepEqual(await clusters().writesSince(begin), []);
    await unoffload("calm");
  });

  it("keeps what is offloaded while a virtual node of a peering is replaced", async () => {
    await clusters().make("rome", {
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
    await clusters().deleteVirtualNode("milan");
    await clusters().untilGone("milan", () => clusters().virtualNode("milan"));
    assert.equal(await rome().get(Node, { name: "milan" }), undefined);
    await pause(GRACE_MS / 2);
    await clusters().makeVirtualNode("milan");
    await pause(GRACE_MS);
    assert.equal((await remote("kept-rome"))?.metadata.uid, before?.metadata.uid);
    assert.equal(await phaseOf("kept"), "Ready");
  });

  it("removes the map some time after the last virtual node, and with it the remote namespaces", async () => {
    await clusters().deleteVirtualNode("milan");
    await clusters().untilGone("milan", () => clusters().virtualNode("milan"));
    assert.ok(await mapOf());
    await clusters().untilGone("the map", mapOf);
    await clusters().untilGone("kept-rome", () => remote("kept-rome"));
    await untilPhase("kept", "NoClusterSelected");
    await clusters().makeVirtualNode("milan");
    await untilPhase("kept", "Ready");
  });

  it("removes the map at once when the peering ends", async () => {
    await clusters().deleteVirtualNode("milan");
    await clusters().untilGone("milan", () => clusters().virtualNode("milan"));
    await rome().delete(Secret, { name: "kubeconfig-controlplane-milan", namespace: AT_ROME });
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
