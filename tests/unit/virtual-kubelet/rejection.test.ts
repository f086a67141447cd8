import assert from "node:assert/strict";
import type { PodStatus } from "kubernetes-types/core/v1";

import { rejectedStatus } from "../../../runtime/virtual-kubelet/pods/pod-status-not-running";

const now = "2026-03-04T05:06:07Z";
const running: PodStatus = {
  phase: "Running",
  podIP: "10.71.0.9",
  conditions: [
    { type: "Ready", status: "True", lastTransitionTime: "2026-03-04T05:00:00Z" },
    { type: "PodScheduled", status: "False", reason: "Unschedulable" },
  ],
  containerStatuses: [
    { name: "app", ready: true, restartCount: 2, image: "app", imageID: "", state: { running: {} } },
    {
      name: "job",
      ready: false,
      restartCount: 0,
      image: "job",
      imageID: "",
      state: { terminated: { exitCode: 7 } },
    },
  ],
};

describe("rejectedStatus", () => {
  const cases: ["Pending" | "Failed" | "Succeeded", unknown][] = [
    ["Pending", { running: {} }],
    ["Failed", { terminated: { exitCode: 1, reason: "Why" } }],
    ["Succeeded", { terminated: { exitCode: 0, reason: "Why" } }],
  ];
  for (const [phase, state] of cases) {
    it(`puts a running pod into ${phase}`, () => {
      const status = rejectedStatus(running, { phase, reason: "Why" }, now);
      assert.equal(status.phase, phase);
      assert.equal(status.reason, "Why");
      assert.deepEqual(status.conditions, [
        { type: "Ready", status: "False", reason: "Why", lastTransitionTime: now },
        { type: "PodScheduled", status: "False", reason: "Unschedulable" },
      ]);
      assert.deepEqual(status.containerStatuses?.[0], {
        name: "app",
        ready: false,
        restartCount: 2,
        image: "app",
        imageID: "",
        state,
      });
      assert.deepEqual(status.containerStatuses?.[1]?.state, { terminated: { exitCode: 7 } });
    });
  }

  it("changes nothing when applied again", () => {
    const once = rejectedStatus(running, { phase: "Failed", reason: "Why", message: "because" }, now);
    assert.deepEqual(
      rejectedStatus(once, { phase: "Failed", reason: "Why", message: "because" }, "later"),
      once,
    );
  });

  it("makes a status of none", () => {
    assert.deepEqual(rejectedStatus(undefined, { phase: "Pending", reason: "Why" }, now), {
      phase: "Pending",
      reason: "Why",
    });
  });
});
