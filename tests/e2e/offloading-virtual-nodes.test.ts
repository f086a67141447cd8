import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

import {
  type Desired,
  ForeignCluster,
  Identity,
  type KubeObject,
  Lease,
  Node,
  Pod,
  Secret,
  VirtualNode,
} from "../../runtime/api";
import { isNotFound } from "../../runtime/kube";
import { eventAbout } from "../support/events";
import { AT_ROME, OffloadingClusters } from "../support/offloading-clusters";
import { until } from "../support/until";

describe("virtual nodes, at the consumer", function () {
  this.timeout(120_000);
  const clusters = OffloadingClusters.forSuite();
  const rome = () => clusters().admin.rome;

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
    const made = await rome().create(Pod, object);
    const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
    await rome().patch(Pod, made.metadata, { status }, { type: "merge", subresource: "status" });
    return made;
  };
  const pod = (name: string) => rome().get(Pod, { name, namespace: "busy" });
  const end = (name: string) => rome().delete(Pod, { name, namespace: "busy" }, { gracePeriodSeconds: 0 });
  const isTerminating = async (name: string) =>
    typeof (await pod(name))?.metadata.deletionTimestamp === "string";

  before(async () => {
    await clusters().makeNamespace("rome", "busy");
    await clusters()
      .make("rome", {
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: { name: "default", namespace: "busy" },
      })
      .catch(() => undefined);
  });

  it("labels the pods of a node that is not ready, those too that come later, and takes the label back", async () => {
    await clusters().makeVirtualNode("flaky");
    await clusters().makeNode("flaky");
    await podOn("web-0", "flaky");
    const label = async (name: string) => (await pod(name))?.metadata.labels?.["liqo.io/remote-unavailable"];
    await clusters().setReady("flaky", "False");
    await until("the pod is labelled", async () => (await label("web-0")) === "true");
    await podOn("web-1", "flaky");
    await until("the later pod is labelled", async () => (await label("web-1")) === "true", {
      timeoutMs: 15_000,
    });
    await clusters().setReady("flaky", "True");
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
    await rome().raw({
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
      const { body } = await rome().raw({
        path: "/apis/policy/v1/namespaces/busy/poddisruptionbudgets/busy",
      });
      return /"currentHealthy":1/.test(body.toString());
    });
    await clusters().make("rome", {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "flaky", namespace: AT_ROME },
      spec: {
        holderIdentity: "virtual-kubelet-0",
        leaseDurationSeconds: 60,
        renewTime: new Date().toISOString().replace("Z", "000Z"),
      },
    } as Desired<KubeObject>);
    await clusters().makeVirtualNode("other");
    await clusters().makeNode("other");

    await clusters().deleteVirtualNode("flaky");
    await until(
      "the node is cordoned",
      async () => (await rome().get(Node, { name: "flaky" }))?.spec.unschedulable === true,
    );
    await until("draining", async () => {
      return (await clusters().condition("flaky", "Node")) === "Draining";
    });
    await pause(1_000);
    assert.equal(await isTerminating("guarded"), false);

    const begin = performance.now();
    await clusters().deleteVirtualNode("other");
    await clusters().untilGone("the other node", () => clusters().virtualNode("other"));
    assert.ok(performance.now() - begin < 5_000);

    await podOn("spare", "elsewhere");
    await until("the pod is asked to leave", () => isTerminating("guarded"), { timeoutMs: 20_000 });
    assert.ok(await rome().get(Node, { name: "flaky" }), "the node waits for its pods");
    await end("guarded");
    await until("the virtual kubelet is asked to let go", async () => {
      return (await clusters().condition("flaky", "VirtualKubelet")) === "Deleting";
    });
    await pause(500);
    assert.ok(await rome().get(Node, { name: "flaky" }), "the node waits for its virtual kubelet");
    await rome().patch(
      Lease,
      { name: "flaky", namespace: AT_ROME },
      { spec: { holderIdentity: "" } },
      { type: "merge" },
    );
    await clusters().untilGone("the virtual node", () => clusters().virtualNode("flaky"));
    assert.equal(await rome().get(Node, { name: "flaky" }), undefined);
    await end("spare");
    await end("daemon").catch((error: unknown) => assert.ok(isNotFound(error)));
  });

  it("removes pods at once when the peer is declared dead", async () => {
    await clusters().makeVirtualNode("dead");
    await clusters().makeNode("dead");
    await podOn("lonely", "dead");
    await rome().patch(
      ForeignCluster,
      { name: "milan" },
      { metadata: { annotations: { "liqo.io/foreign-cluster-permanently-unreachable": "true" } } },
      { type: "merge" },
    );
    await clusters().deleteVirtualNode("dead");
    await clusters().untilGone("the virtual node", () => clusters().virtualNode("dead"));
    assert.equal(await pod("lonely"), undefined);
    await rome().patch(
      ForeignCluster,
      { name: "milan" },
      { metadata: { annotations: { "liqo.io/foreign-cluster-permanently-unreachable": null } } },
      { type: "merge" },
    );
  });

  it("takes the Node away with createNode=false, spares one that a user made, and can be deleted without any", async () => {
    await clusters().makeVirtualNode("headless");
    await clusters().makeNode("headless");
    await until("running", async () => {
      return (await clusters().condition("headless", "Node")) === "Running";
    });
    await rome().patch(
      VirtualNode,
      { name: "headless", namespace: AT_ROME },
      { spec: { createNode: false } },
      { type: "merge" },
    );
    await clusters().untilGone("the node", () => rome().get(Node, { name: "headless" }));
    await until("none", async () => {
      return (await clusters().condition("headless", "Node")) === "None";
    });
    await clusters().make("rome", {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "headless", labels: { "liqo.io/type": "virtual-node" } },
    });
    await pause(500);
    await clusters().deleteVirtualNode("headless");
    await clusters().untilGone("the virtual node", () => clusters().virtualNode("headless"));
    assert.ok(await rome().get(Node, { name: "headless" }));
    await rome().delete(Node, { name: "headless" });
  });

  it("keeps the credentials of a slice that is gone until the last virtual node that uses them is", async () => {
    const ref = { name: "kubeconfig-resourceslice-spare", namespace: AT_ROME };
    const secret = () => rome().get(Secret, ref);
    const make = () =>
      rome().create(Secret, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: {
          ...ref,
          labels: { "liqo.io/remote-cluster-id": "milan", "liqo.io/identity-type": "ResourceSlice" },
        },
      });
    const held = async () =>
      (await secret())?.metadata.finalizers?.includes("virtualnode-controller.liqo.io/finalizer") === true;
    for (const name of ["spare-a", "spare-b"]) {
      await clusters().makeVirtualNode(name, { kubeconfigSecretRef: { name: ref.name } });
    }
    const first = await make();
    await until("the credentials are held", held);

    const { apiVersion, kind } = Identity;
    const maker = { name: "resourceslice-spare", namespace: AT_ROME };
    const spec = { clusterID: "milan", type: "ResourceSlice" as const };
    await rome().create(Identity, { apiVersion, kind, metadata: maker, spec });
    await pause(500);
    await rome().delete(Secret, ref);
    await clusters().untilGone("what its Identity makes again", secret);
    await rome().delete(Identity, maker);

    const second = await make();
    assert.notEqual(second.metadata.uid, first.metadata.uid);
    await until("the new ones are held", held);
    await rome().delete(Secret, ref);
    const told = await eventAbout(rome(), { kind: "Secret", ...ref }, "CredentialsHeld");
    assert.match(told, /spare-a, spare-b.*liqoctl delete virtualnode/);
    await clusters().deleteVirtualNode("spare-a");
    await clusters().untilGone("one virtual node", () => clusters().virtualNode("spare-a"));
    await pause(500);
    assert.equal((await secret())?.metadata.uid, second.metadata.uid);
    await clusters().deleteVirtualNode("spare-b");
    await clusters().untilGone("the credentials", secret);
  });
});
