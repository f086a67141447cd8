import assert from "node:assert/strict";

import { z } from "zod";

import { clusterSpec } from "../../../provider/local-cluster/cluster-spec";

describe("the specification of a local cluster", () => {
  it("needs only a name", () => {
    assert.deepEqual(clusterSpec.parse({ name: "rome" }), {
      name: "rome",
      nodes: 1,
      podCidr: "10.200.0.0/16",
      serviceCidr: "10.96.0.0/16",
      kubernetesVersion: "1.34.4",
      backend: "auto",
      images: [],
      auditLog: false,
    });
  });

  for (const [title, input, field, reason] of [
    ["a name that no node can have", { name: "Rome" }, "name", /lower-case letters/],
    ["a name too long for its nodes", { name: "a".repeat(21) }, "name", /1 to 20/],
    ["no nodes", { name: "rome", nodes: 0 }, "nodes", /Too small/],
    ["six nodes", { name: "rome", nodes: 6 }, "nodes", /Too big/],
    ["a range with host bits", { name: "rome", podCidr: "10.1.2.3/16" }, "podCidr", /10\.1\.0\.0\/16/],
    [
      "overlapping ranges",
      { name: "rome", podCidr: "10.96.0.0/12" },
      "serviceCidr",
      /overlaps the pod range 10\.96\.0\.0\/12/,
    ],
    [
      "a pod range too small for the nodes",
      { name: "rome", nodes: 4, podCidr: "10.9.0.0/25" },
      "podCidr",
      /too small for 4 nodes; give it a prefix of \/24/,
    ],
    [
      "a service range that is too large",
      { name: "rome", serviceCidr: "11.0.0.0/8" },
      "serviceCidr",
      /\/12 to \/26/,
    ],
    ["an unknown field", { name: "rome", size: 3 }, "", /size/],
    [
      "an audit log on kind",
      { name: "rome", backend: "kind", auditLog: true },
      "auditLog",
      /native backend only/,
    ],
  ] as const) {
    it(`refuses ${title}`, () => {
      const result = clusterSpec.safeParse(input);
      assert.ok(!result.success);
      const [issue] = result.error.issues;
      assert.equal(issue?.path.join("."), field);
      assert.match(z.prettifyError(result.error), reason);
    });
  }
});
