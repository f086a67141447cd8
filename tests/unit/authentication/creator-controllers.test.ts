import assert from "node:assert/strict";
import type { ResourceSlice } from "../../../runtime/api";
import { sliceIdentity } from "../../../runtime/authentication/identity-creator-controller";
import { sliceQuota } from "../../../runtime/authentication/quota-creator-controller";
import {
  sliceVirtualNode,
  wantsVirtualNode,
} from "../../../runtime/authentication/virtual-node-creator-controller";

describe("the objects of a slice", () => {
  const slice: ResourceSlice = {
    apiVersion: "authentication.liqo.io/v1beta1",
    kind: "ResourceSlice",
    metadata: { name: "pool", namespace: "to-milan", uid: "u-2" },
    spec: {},
    status: {
      resources: { cpu: 8, memory: "1Gi" },
      nodeLabels: { zone: "a" },
      nodeSelector: { tier: "gold" },
      storageClasses: [{ storageClassName: "ssd", default: true }],
    },
  };

  it("a virtual node with what was granted", () => {
    const { metadata, spec } = sliceVirtualNode(slice, "milan", "kubeconfig-resourceslice-pool");
    assert.equal(metadata.name, "pool");
    assert.deepEqual(metadata.labels, {
      "liqo.io/remote-cluster-id": "milan",
      "liqo.io/resourceslice-name": "pool",
    });
    assert.deepEqual(spec, {
      clusterID: "milan",
      kubeconfigSecretRef: { name: "kubeconfig-resourceslice-pool" },
      resourceQuota: { hard: { cpu: "8", memory: "1Gi" } },
      labels: { zone: "a", "liqo.io/remote-cluster-id": "milan" },
      storageClasses: [{ storageClassName: "ssd", default: true }],
      ingressClasses: [],
      loadBalancerClasses: [],
      offloadingPatch: { nodeSelector: { tier: "gold" } },
    });
  });

  it("an identity without a namespace", () => {
    const { metadata, spec } = sliceIdentity(slice, "milan", { apiServer: "https://x" });
    assert.equal(metadata.name, "resourceslice-pool");
    assert.equal(metadata.ownerReferences?.[0]?.uid, "u-2");
    assert.deepEqual(spec, {
      clusterID: "milan",
      type: "ResourceSlice",
      authParams: { apiServer: "https://x" },
    });
  });

  it("a quota under the name of the slice's user, closed while the slice is cordoned", () => {
    const open = sliceQuota(slice, "rome", "Soft");
    assert.equal(open.metadata.name, "pool-a8a4c692b93b");
    assert.deepEqual(open.spec, {
      user: "pool-a8a4c692b93b",
      limitsEnforcement: "Soft",
      resources: { cpu: "8", memory: "1Gi" },
    });
    const metadata = { ...slice.metadata, annotations: { "liqo.io/cordon": "true" } };
    assert.equal(sliceQuota({ ...slice, metadata }, "rome", "None").spec?.cordoned, true);
  });

  for (const [value, wanted] of [
    [undefined, false],
    ["", false],
    ["false", false],
    ["False", false],
    ["true", true],
    ["yes", true],
  ] as const) {
    it(`a virtual node is wanted with ${JSON.stringify(value)}: ${wanted}`, () => {
      const annotations: Record<string, string> =
        value === undefined ? {} : { "liqo.io/create-virtual-node": value };
      assert.equal(wantsVirtualNode({ ...slice, metadata: { ...slice.metadata, annotations } }), wanted);
    });
  }
});
