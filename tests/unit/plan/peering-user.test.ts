import assert from "node:assert/strict";

import { peeringUserBindings, peeringUserRequest } from "../../../runtime/plan/peering-user";

describe("a peering user", () => {
  const user = {
    consumerClusterId: "rome",
    userName: "liqo-peer-user-rome-0011",
    liqoNamespace: "liqo-system",
    tenantNamespace: "liqo-tenant-rome",
  };

  it("reads in the Liqo namespace, and peers in the tenant namespace", () => {
    const told = peeringUserBindings(user).map(({ metadata, roleRef, subjects }) => [
      `${metadata.namespace}/${metadata.name}`,
      `${roleRef?.kind} ${roleRef?.name}`,
      subjects?.map((subject) => `${subject?.kind} ${subject?.name}`).join(),
    ]);
    assert.deepEqual(told, [
      [
        "liqo-system/liqo-peer-user-rome-liqo-ns-reader",
        "Role liqo-peering-user-liqo-ns",
        "User liqo-peer-user-rome-0011",
      ],
      [
        "liqo-tenant-rome/liqo-peer-user-rome-tenant-ns-writer",
        "ClusterRole liqo-peering-user-tenant-ns",
        "User liqo-peer-user-rome-0011",
      ],
    ]);
  });

  it("is marked as upstream marks it, unless the cluster's ID is too long for a label", () => {
    const labels = (consumer: string) => peeringUserRequest(consumer, "csr").metadata.labels;
    assert.deepEqual(labels("rome"), {
      "liqo.io/remote-cluster-id": "rome",
      "liqo.io/peering-user-name": "liqo-peer-user-rome",
    });
    const long = "r".repeat(51);
    assert.deepEqual(labels(long), { "liqo.io/remote-cluster-id": long });
  });
});
