import assert from "node:assert/strict";
import { copySelector, isCopy, isSource } from "../../../runtime/plan/peer-objects";
import { copyMetadata, type Replicable } from "../../../runtime/replication/copy";

const route = { localClusterId: "rome", remoteClusterId: "milan", remoteNamespace: "guests-of-milan" };

describe("the copy of a replicated object", () => {
  const source: Replicable = {
    apiVersion: "authentication.liqo.io/v1beta1",
    kind: "ResourceSlice",
    metadata: {
      name: "pool",
      namespace: "liqo-tenant-milan",
      uid: "0b0e6c3e-1111-4222-8333-444455556666",
      resourceVersion: "17",
      finalizers: ["crdreplicator.liqo.io/resource"],
      ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "x", uid: "y" }],
      labels: {
        "liqo.io/replication": "true",
        "liqo.io/remoteID": "milan",
        "liqo.io/remote-cluster-id": "milan",
        "liqo.io/ownership": "Shared",
        team: "blue",
      },
      annotations: { "liqo.io/create-virtual-node": "true" },
    },
    spec: {},
  };

  it("says where it comes from and keeps nothing that is bound to the source's cluster", () => {
    assert.deepEqual(copyMetadata(source, route), {
      name: "pool",
      namespace: "guests-of-milan",
      labels: {
        "liqo.io/replication": "false",
        "liqo.io/replicated": "true",
        "liqo.io/originID": "rome",
        "liqo.io/remote-cluster-id": "rome",
        "liqo.io/remoteID": "milan",
        team: "blue",
      },
      annotations: { "liqo.io/create-virtual-node": "true" },
    });
  });

  it("is found by its labels at the peer, and is no source there", () => {
    assert.equal(copySelector("rome"), "liqo.io/originID=rome,liqo.io/replicated=true");
    const copy = {
      ...source,
      metadata: { ...source.metadata, ...copyMetadata(source, route), name: "pool" },
    };
    assert.equal(isCopy(copy), true);
    assert.equal(isSource(copy), false);
    assert.equal(isSource(source, "milan"), true);
    assert.equal(isSource(source, "turin"), false);
    assert.equal(isCopy(source), false);
  });
});
