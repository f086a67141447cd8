import assert from "node:assert/strict";

import { PersistentVolume, PersistentVolumeClaim } from "../../../runtime/api/kubernetes";
import { decideClaim, mustRemove, volumeOf } from "../../../provider/local-cluster/native/agent/volume-plan";

const annotations = {
  "volume.kubernetes.io/storage-provisioner": "pulumi-liqo.io/local-path",
  "volume.kubernetes.io/selected-node": "milan-2",
};
const claim = (metadata: object = {}, spec: object = {}) =>
  PersistentVolumeClaim.parse({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "data", namespace: "shop", uid: "u-1", annotations, ...metadata },
    spec: {
      storageClassName: "standard",
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "3Gi" } },
      ...spec,
    },
  });
const nodes = ["milan-1", "milan-2"];

describe("claims of the default storage class", () => {
  for (const [title, object, decision] of [
    ["get a volume on the node that the scheduler chose", claim(), { provisionOn: "milan-2" }],
    [
      "wait for a pod",
      claim({ annotations: { "volume.kubernetes.io/storage-provisioner": "pulumi-liqo.io/local-path" } }),
      undefined,
    ],
    [
      "of another provisioner are left alone",
      claim({ annotations: { ...annotations, "volume.kubernetes.io/storage-provisioner": "x" } }),
      undefined,
    ],
    ["that are bound are left alone", claim({}, { volumeName: "pvc-u-1" }), undefined],
    ["under deletion are left alone", claim({ deletionTimestamp: "2026-01-01T00:00:00Z" }), undefined],
  ] as const) {
    it(title, () => assert.deepEqual(decideClaim(object, nodes), decision));
  }

  it("are refused on a node that is not of this machine, and as block devices", () => {
    const elsewhere = decideClaim(
      claim({ annotations: { ...annotations, "volume.kubernetes.io/selected-node": "virtual" } }),
      nodes,
    );
    assert.match(
      elsewhere !== undefined && "refuse" in elsewhere ? elsewhere.refuse : "",
      /virtual is not a node of this machine/,
    );
    const block = decideClaim(claim({}, { volumeMode: "Block" }), nodes);
    assert.match(block !== undefined && "refuse" in block ? block.refuse : "", /volumeMode is Block/);
  });

  it("become a volume that stays on its node and names its claim", () => {
    const volume = volumeOf(claim(), "milan-2", "/state/volumes");
    assert.equal(volume.metadata.name, "pvc-u-1");
    assert.deepEqual(volume.spec.capacity, { storage: "3Gi" });
    assert.deepEqual(volume.spec.hostPath, { path: "/state/volumes/pvc-u-1", type: "DirectoryOrCreate" });
    assert.equal(volume.spec.claimRef.uid, "u-1");
    assert.deepEqual(volume.spec.nodeAffinity.required.nodeSelectorTerms[0]?.matchExpressions[0]?.values, [
      "milan-2",
    ]);
  });
});

describe("volumes of the default storage class", () => {
  const volume = (phase: string, spec: object = {}, provisioner = "pulumi-liqo.io/local-path") =>
    PersistentVolume.parse({
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: "pvc-u-1", annotations: { "pv.kubernetes.io/provisioned-by": provisioner } },
      spec: { persistentVolumeReclaimPolicy: "Delete", ...spec },
      status: { phase },
    });
  for (const [title, object, removed] of [
    ["go when their claim has gone", volume("Released"), true],
    ["stay while they are bound", volume("Bound"), false],
    [
      "stay if they are to be retained",
      volume("Released", { persistentVolumeReclaimPolicy: "Retain" }),
      false,
    ],
    ["stay if another provisioner made them", volume("Released", {}, "x"), false],
  ] as const) {
    it(title, () => assert.equal(mustRemove(object), removed));
  }
});
