import assert from "node:assert/strict";

import type { Pod } from "../../../runtime/api";
import { drainable } from "../../../runtime/offloading/drain";

describe("a drain", () => {
  it("waits for all pods but those of DaemonSets and mirrors", () => {
    const pod = (name: string, metadata: object = {}): Pod => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: "shop", ...metadata },
      spec: { containers: [] },
    });
    const owned = (kind: string, controller = true) => ({
      ownerReferences: [{ apiVersion: "apps/v1", kind, name: "x", uid: "1", controller }],
    });
    const pods = [
      pod("bare"),
      pod("replica", owned("ReplicaSet")),
      pod("daemon", owned("DaemonSet")),
      pod("friend", owned("DaemonSet", false)),
      pod("static", { annotations: { "kubernetes.io/config.mirror": "x" } }),
    ];
    assert.deepEqual(
      drainable(pods).map(({ metadata }) => metadata.name),
      ["bare", "replica", "friend"],
    );
  });
});
