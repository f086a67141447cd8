import assert from "node:assert/strict";

import { NamespaceMap, NamespaceOffloading, VirtualNode } from "../../../runtime/api";
import {
  credentialsGrant,
  type Grant,
  kubeletBinding,
  offloadedGrant,
  servedBy,
} from "../../../runtime/offloading/virtual-kubelet-rights";

const leaving = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["liqo.io/x"] };
const created = { uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };

/** A map of rome's to a provider. */
const map = (provider: string, desiredMapping: Record<string, string>) =>
  NamespaceMap.parse({
    apiVersion: "offloading.liqo.io/v1beta1",
    kind: "NamespaceMap",
    metadata: {
      ...created,
      name: provider,
      namespace: `to-${provider}`,
      labels: { "liqo.io/remote-cluster-id": provider },
    },
    spec: { desiredMapping },
  });

const offloading = (more: object = {}, required: Record<string, string> = {}) =>
  NamespaceOffloading.parse({
    apiVersion: "offloading.liqo.io/v1beta1",
    kind: "NamespaceOffloading",
    metadata: { ...created, name: "offloading", namespace: "shop", ...more },
    spec: {},
    status: {
      remoteNamespaceName: "shop-rome",
      remoteNamespacesConditions: Object.fromEntries(
        Object.entries(required).map(([cluster, status]) => [
          cluster,
          [{ type: "OffloadingRequired", status, lastTransitionTime: "2026-01-01T00:00:00Z" }],
        ]),
      ),
    },
  });

const node = (name: string, provider: string, more: { metadata?: object; secret?: string } = {}) =>
  VirtualNode.parse({
    apiVersion: "offloading.liqo.io/v1beta1",
    kind: "VirtualNode",
    metadata: { ...created, name, namespace: `to-${provider}`, ...more.metadata },
    spec: { clusterID: provider, kubeconfigSecretRef: { name: more.secret ?? `kubeconfig-${name}` } },
  });

const all = servedBy(false, "liqo-system");
const each = servedBy(true, "liqo-system");
const shown = (grant: Grant) =>
  grant === "as it is" ? grant : grant.map(({ name, namespace }) => `${namespace}/${name}`).join(" ");

describe("the rights of virtual kubelets", () => {
  const virtualNodes = [node("pool", "milan"), node("annex", "milan"), node("far", "turin")];
  const milan = map("milan", { shop: "shop-rome" });
  const rows: [
    what: string,
    facts: Partial<Parameters<typeof offloadedGrant>[1]>,
    one: string,
    own: string,
  ][] = [
    ["of a namespace that is not offloaded", {}, "", ""],
    ["of one that a provider asks for itself", { maps: [milan] }, "", ""],
    [
      "of one that is offloaded to one provider",
      { offloading: offloading(), maps: [milan, map("turin", {})] },
      "liqo-system/liqo-virtual-kubelet",
      "to-milan/vk-annex to-milan/vk-pool",
    ],
    [
      "of one whose map is late, and is asked for all the same",
      { offloading: offloading({}, { turin: "True", milan: "False" }), maps: [milan, map("turin", {})] },
      "liqo-system/liqo-virtual-kubelet",
      "to-turin/vk-far",
    ],
    [
      "of one that no provider is asked for any more",
      { offloading: offloading({}, { milan: "False" }), maps: [milan] },
      "",
      "",
    ],
    [
      "of one that is offloaded to nobody yet",
      { offloading: offloading(), maps: [map("milan", {})] },
      "",
      "",
    ],
    [
      "of one whose offloading ends",
      { offloading: offloading(leaving), maps: [milan] },
      "as it is",
      "as it is",
    ],
    [
      "of one whose virtual nodes are being replaced",
      { offloading: offloading(), maps: [milan], virtualNodes: [] },
      "liqo-system/liqo-virtual-kubelet",
      "",
    ],
  ];
  for (const [what, facts, one, own] of rows) {
    it(`${what} are those of whoever serves its pods`, () => {
      const whole = { offloading: undefined, maps: [], virtualNodes, ...facts };
      assert.equal(shown(offloadedGrant("shop", whole, all)), one);
      assert.equal(shown(offloadedGrant("shop", whole, each)), own);
    });
  }

  it("to credentials are where the virtual nodes are, and last as long as those", () => {
    assert.equal(
      shown(credentialsGrant("to-milan", { virtualNodes }, all)),
      "liqo-system/liqo-virtual-kubelet",
    );
    assert.equal(
      shown(credentialsGrant("to-milan", { virtualNodes }, each)),
      "to-milan/vk-annex to-milan/vk-pool",
    );
    for (const by of [all, each]) {
      assert.equal(shown(credentialsGrant("shop", { virtualNodes }, by)), "");
      assert.equal(shown(credentialsGrant("to-milan", { virtualNodes: [] }, by)), "");
      const last = [node("pool", "milan", { metadata: leaving })];
      assert.equal(shown(credentialsGrant("to-milan", { virtualNodes: last }, by)), "as it is");
      const without = [node("pool", "milan", { secret: "" })];
      assert.equal(shown(credentialsGrant("to-milan", { virtualNodes: without }, by)), "");
    }
  });

  it("are bound by the role's name, to accounts", () => {
    const binding = kubeletBinding("liqo-virtual-kubelet-namespace", "shop", [{ name: "a", namespace: "b" }]);
    assert.deepEqual(binding, {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata: {
        name: "liqo-virtual-kubelet-namespace",
        namespace: "shop",
        labels: {
          "app.kubernetes.io/managed-by": "liqo",
          "offloading.liqo.io/component": "virtual-kubelet",
        },
      },
      roleRef: {
        apiGroup: "rbac.authorization.k8s.io",
        kind: "ClusterRole",
        name: "liqo-virtual-kubelet-namespace",
      },
      subjects: [{ kind: "ServiceAccount", name: "a", namespace: "b" }],
    });
  });
});
