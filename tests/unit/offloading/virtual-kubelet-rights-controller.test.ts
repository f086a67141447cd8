import assert from "node:assert/strict";

import {
  Event,
  type KubeObject,
  NamespaceMap,
  NamespaceOffloading,
  RoleBinding,
  VirtualNode,
} from "../../../runtime/api";
import { ConsumerCaches } from "../../../runtime/offloading/consumer-caches";
import { virtualKubeletRightsController } from "../../../runtime/offloading/virtual-kubelet-rights-controller";
import { MemoryApiServer } from "../../support/memory-api-server";
import { type TestContext, testContext } from "../../support/runtime-context";
import { until } from "../../support/until";

const OFFLOADING = "offloading.liqo.io/v1beta1";
const ofMilan = { "liqo.io/remote-cluster-id": "milan" };
const inShop = "shop/liqo-virtual-kubelet-namespace";
const inTenant = "to-milan/liqo-virtual-kubelet-tenant-ns";

describe("the controller of virtual kubelets' rights", () => {
  let server: MemoryApiServer;
  let context: TestContext;

  beforeEach(async () => {
    server = await MemoryApiServer.start();
    server.create(VirtualNode, {
      apiVersion: OFFLOADING,
      kind: "VirtualNode",
      metadata: { name: "pool", namespace: "to-milan", labels: ofMilan },
      spec: { clusterID: "milan", kubeconfigSecretRef: { name: "kubeconfig-pool" } },
    });
    server.create(NamespaceOffloading, {
      apiVersion: OFFLOADING,
      kind: "NamespaceOffloading",
      metadata: { name: "offloading", namespace: "shop" },
      spec: NamespaceOffloading.parseSpec({}),
    });
    server.create(NamespaceMap, {
      apiVersion: OFFLOADING,
      kind: "NamespaceMap",
      metadata: {
        name: "milan",
        namespace: "to-milan",
        labels: { ...ofMilan, "liqo.io/replication": "true", "liqo.io/remoteID": "milan" },
      },
      spec: { desiredMapping: { shop: "shop-rome" } },
    });
    context = testContext(server.kubeconfig, "test");
  });
  afterEach(async () => {
    await context.end();
    await server.close();
  });

  const start = (options: Parameters<typeof virtualKubeletRightsController>[1] = {}) =>
    virtualKubeletRightsController(context, options, new ConsumerCaches(context.informers));
  const subjects = (key: string) =>
    server
      .get(RoleBinding, key)
      ?.subjects?.map(({ name, namespace }) => `${namespace}/${name}`)
      .join(" ");
  const untilBound = (key: string, to: string | undefined) =>
    until(`${key} is bound to ${to}`, () => subjects(key) === to);
  const isOffloaded = (object: KubeObject) => object.metadata.namespace === "shop";

  it("gives them, is ready then, and writes nothing more", async () => {
    const controller = start({ liqoNamespace: "liqo-system" });
    assert.equal((await context.health.readiness()).healthy, false);
    await until("it is ready", async () => (await context.health.readiness()).healthy);
    for (const key of [inShop, inTenant]) assert.equal(subjects(key), "liqo-system/liqo-virtual-kubelet");
    await until("all is quiet", () => controller.idle);
    assert.equal(server.writes.length, 2, server.writes.join("\n"));
  });

  it("makes again what somebody deletes or changes, and takes them when nothing is offloaded", async () => {
    start();
    await untilBound(inShop, "liqo/liqo-virtual-kubelet");
    server.delete(RoleBinding, inShop);
    await untilBound(inShop, "liqo/liqo-virtual-kubelet");
    server.change(RoleBinding, inShop, {
      subjects: [{ kind: "ServiceAccount", name: "thief", namespace: "shop" }],
    });
    await untilBound(inShop, "liqo/liqo-virtual-kubelet");
    const role = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" };
    const { metadata, subjects: bound } = server.get(RoleBinding, inShop) ?? assert.fail();
    server.delete(RoleBinding, inShop);
    server.create(RoleBinding, {
      apiVersion: RoleBinding.apiVersion,
      kind: RoleBinding.kind,
      metadata: { name: metadata.name, namespace: "shop", labels: metadata.labels },
      roleRef: role,
      subjects: bound,
    });
    await until(
      "it has its own role again",
      () => server.get(RoleBinding, inShop)?.roleRef.name === "liqo-virtual-kubelet-namespace",
    );
    server.delete(NamespaceOffloading, "shop/offloading");
    await untilBound(inShop, undefined);
    assert.equal(subjects(inTenant), "liqo/liqo-virtual-kubelet");
    server.delete(VirtualNode, "to-milan/pool");
    await untilBound(inTenant, undefined);
  });

  it("follows the virtual nodes where each has a process of its own", async () => {
    start({ virtualKubeletPerNode: true });
    await untilBound(inShop, "to-milan/vk-pool");
    server.create(VirtualNode, {
      apiVersion: OFFLOADING,
      kind: "VirtualNode",
      metadata: { name: "annex", namespace: "to-milan", labels: ofMilan },
      spec: { clusterID: "milan", kubeconfigSecretRef: { name: "kubeconfig-annex" } },
    });
    for (const key of [inShop, inTenant]) await untilBound(key, "to-milan/vk-annex to-milan/vk-pool");
    server.change(NamespaceMap, "to-milan/milan", { spec: { desiredMapping: { shop: null } } });
    await untilBound(inShop, undefined);
  });

  it("leaves another's binding alone, says so, and is ready all the same", async () => {
    server.create(RoleBinding, {
      apiVersion: RoleBinding.apiVersion,
      kind: RoleBinding.kind,
      metadata: { name: "liqo-virtual-kubelet-namespace", namespace: "shop" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
    });
    start();
    await until("it is ready", async () => (await context.health.readiness()).healthy);
    await until("it is told", () =>
      server
        .list(Event)
        .some(
          ({ reason, involvedObject }) =>
            reason === "VirtualKubeletRightsRefused" && involvedObject.name === "offloading",
        ),
    );
    assert.deepEqual(
      server
        .list(RoleBinding)
        .filter(isOffloaded)
        .map(({ roleRef }) => roleRef.name),
      ["view"],
    );
  });
});
