import assert from "node:assert/strict";

import type { Node } from "../../../runtime/api/kubernetes";
import { nodeMetadata, nodeMetadataPatch } from "../../../runtime/virtual-kubelet/node/node-metadata";

const extras = {
  clusterId: "milan",
  labels: { "topology.kubernetes.io/zone": "b", "kubernetes.io/hostname": "not-mine" },
  annotations: { note: "n" },
  taints: [{ key: "gpu", value: "only", effect: "NoSchedule" }],
  storage: true,
};

const node = (changes: Partial<Node> = {}): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "milan-gpu", resourceVersion: "7" },
  spec: {},
  ...changes,
});

/** The Node as the API server has it after the patch was applied. */
const made = (metadata: ReturnType<typeof nodeMetadata>): Node =>
  node({
    metadata: {
      name: "milan-gpu",
      resourceVersion: "7",
      labels: { ...metadata.labels, theirs: "t" },
      annotations: { ...metadata.annotations, theirs: "t" },
    },
    spec: { taints: [...metadata.taints] },
  });

describe("nodeMetadata", () => {
  it("marks the node as virtual", () => {
    const { labels, taints } = nodeMetadata("milan-gpu", extras);
    assert.deepEqual(labels, {
      "topology.kubernetes.io/zone": "b",
      "liqo.io/type": "virtual-node",
      type: "virtual-kubelet",
      "liqo.io/remote-cluster-id": "milan",
      "storage.liqo.io/available": "true",
      "kubernetes.io/hostname": "milan-gpu",
      "kubernetes.io/role": "agent",
      "kubernetes.io/os": "linux",
      "kubernetes.io/arch": "amd64",
      "node.kubernetes.io/exclude-from-external-load-balancers": "true",
      "alpha.service-controller.kubernetes.io/exclude-balancer": "true",
    });
    assert.deepEqual(taints, [
      { key: "gpu", value: "only", effect: "NoSchedule" },
      { key: "virtual-node.liqo.io/not-allowed", value: "true", effect: "NoExecute" },
    ]);
  });
});

describe("nodeMetadataPatch", () => {
  const desired = nodeMetadata("milan-gpu", extras);

  it("finds nothing to do for what it made", () =>
    assert.equal(nodeMetadataPatch(made(desired), desired), undefined));

  it("leaves the taints of the node lifecycle controller", () => {
    const unreachable = { key: "node.kubernetes.io/unreachable", effect: "NoExecute", timeAdded: "t" };
    const existing = made(desired);
    existing.spec.taints = [...(existing.spec.taints ?? []), unreachable];
    assert.equal(nodeMetadataPatch(existing, desired), undefined);
    const without = nodeMetadata("milan-gpu", { ...extras, taints: [] });
    assert.deepEqual(nodeMetadataPatch(existing, without)?.spec, {
      taints: [unreachable, ...without.taints],
    });
  });

  it("restores what was edited by hand", () => {
    const existing = made(desired);
    delete existing.metadata.labels?.["liqo.io/type"];
    existing.spec.taints = [];
    const patch = nodeMetadataPatch(existing, desired);
    assert.deepEqual(patch, {
      metadata: { resourceVersion: "7", labels: { "liqo.io/type": "virtual-node" } },
      spec: { taints: desired.taints },
    });
  });

  it("removes what is no longer desired, and nothing else", () => {
    const fewer = nodeMetadata("milan-gpu", { clusterId: "milan", storage: false });
    const patch = nodeMetadataPatch(made(desired), fewer);
    assert.deepEqual((patch?.metadata as { labels: unknown }).labels, {
      "storage.liqo.io/available": "false",
      "topology.kubernetes.io/zone": null,
    });
    assert.equal((patch?.metadata as { annotations: Record<string, unknown> }).annotations.note, null);
  });

  it("reads the record of upstream's virtual kubelet", () => {
    const existing = made(nodeMetadata("milan-gpu", { clusterId: "milan", storage: true }));
    existing.metadata.labels = { ...existing.metadata.labels, old: "o" };
    existing.metadata.annotations = {
      "virtual-kubelet.io/last-applied-object-meta": JSON.stringify({
        name: "milan-gpu",
        labels: { old: "o" },
      }),
    };
    const patch = nodeMetadataPatch(
      existing,
      nodeMetadata("milan-gpu", { clusterId: "milan", storage: true }),
    );
    assert.deepEqual((patch?.metadata as { labels: unknown }).labels, { old: null });
  });
});
