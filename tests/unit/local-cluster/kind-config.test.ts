import assert from "node:assert/strict";

import { clusterSpec } from "../../../provider/local-cluster/cluster-spec";
import { kindConfig } from "../../../provider/local-cluster/kind/kind-backend";

describe("the configuration for kind", () => {
  it("has the ranges, the version and one control plane", () => {
    const spec = clusterSpec.parse({
      name: "rome",
      nodes: 3,
      podCidr: "10.64.0.0/16",
      kubernetesVersion: "1.33.1",
    });
    const image = "kindest/node:v1.33.1";
    const { name, ...rest } = Object(kindConfig(spec)) as Record<string, unknown>;
    assert.match(String(name), /^pulumi-liqo-[a-z0-9]+-rome$/);
    assert.deepEqual(rest, {
      kind: "Cluster",
      apiVersion: "kind.x-k8s.io/v1alpha4",
      networking: { podSubnet: "10.64.0.0/16", serviceSubnet: "10.96.0.0/16" },
      nodes: [
        { role: "control-plane", image },
        { role: "worker", image },
        { role: "worker", image },
      ],
    });
  });
});
