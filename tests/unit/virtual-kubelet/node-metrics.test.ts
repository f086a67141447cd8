import assert from "node:assert/strict";

import {
  mergeMetrics,
  parsePodMetrics,
  statsSummary,
} from "../../../runtime/virtual-kubelet/kubelet/node-metrics";

describe("mergeMetrics", () => {
  const milan = `# HELP pod_cpu_usage_seconds_total CPU
# TYPE pod_cpu_usage_seconds_total counter
pod_cpu_usage_seconds_total{namespace="shop",pod="web-0"} 1
# TYPE node_cpu_usage_seconds_total counter
node_cpu_usage_seconds_total 7
`;
  const turin = `# HELP pod_cpu_usage_seconds_total CPU of a pod
# TYPE pod_cpu_usage_seconds_total counter
pod_cpu_usage_seconds_total{namespace="shop",pod="web-1"} 2
`;
  it("passes one text on as it is", () => assert.equal(mergeMetrics([milan]), milan));
  it("has each family once, and no node's sum among several", () => {
    assert.equal(
      mergeMetrics([milan, turin]),
      `# HELP pod_cpu_usage_seconds_total CPU
# TYPE pod_cpu_usage_seconds_total counter
pod_cpu_usage_seconds_total{namespace="shop",pod="web-0"} 1
pod_cpu_usage_seconds_total{namespace="shop",pod="web-1"} 2
`,
    );
  });
  it("is empty for nothing", () => assert.equal(mergeMetrics([]), ""));
});

describe("statsSummary", () => {
  it("sums what the pods' containers use", () => {
    const metrics = parsePodMetrics(
      JSON.stringify({
        items: [
          {
            metadata: { name: "web-0" },
            timestamp: "2026-03-04T05:06:07Z",
            containers: [
              { name: "app", usage: { cpu: "250m", memory: "64Mi" } },
              { name: "log", usage: { cpu: "1500n", memory: "1Ki" } },
            ],
          },
        ],
      }),
    )?.[0];
    assert.ok(metrics);
    const summary = statsSummary("milan", "2026-03-04T00:00:00Z", [
      { name: "web-0", namespace: "shop", uid: "u1", startTime: "2026-03-04T05:00:00Z", metrics },
    ]) as {
      node: { cpu: { usageNanoCores: number } };
      pods: { podRef: unknown; memory: { workingSetBytes: number } }[];
    };
    assert.equal(summary.node.cpu.usageNanoCores, 250_001_500);
    assert.deepEqual(summary.pods[0]?.podRef, { name: "web-0", namespace: "shop", uid: "u1" });
    assert.equal(summary.pods[0]?.memory.workingSetBytes, 64 * 1024 * 1024 + 1024);
  });
  it("takes no other text for metrics", () => {
    assert.equal(parsePodMetrics("404 page not found"), undefined);
    assert.equal(parsePodMetrics("{}"), undefined);
  });
});
