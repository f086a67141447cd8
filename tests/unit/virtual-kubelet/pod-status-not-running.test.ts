import type { PodStatus } from "kubernetes-types/core/v1";
import assert from "node:assert/strict";

import {
  lostStatus,
  refusedStatus,
  rejectedStatus,
  takenStatus,
} from "../../../runtime/virtual-kubelet/pods/pod-status-not-running";

const now = "2026-03-04T05:06:07Z";

const then = "2026-03-04T05:00:00Z";

const running: PodStatus = {
  phase: "Running",
  podIP: "10.71.0.9",
  conditions: [
    { type: "PodScheduled", status: "True", lastTransitionTime: then },
    { type: "ContainersReady", status: "True", lastTransitionTime: then },
    { type: "Ready", status: "True", lastTransitionTime: then },
  ],
  containerStatuses: [
    { name: "app", ready: true, restartCount: 2, image: "app", imageID: "", state: { running: {} } },
  ],
};

describe("lostStatus", () => {
  const lost = lostStatus(running, "may not be made", now);

  it("takes readiness and nothing else", () => {
    const why = { reason: "RemotePodLost", message: "may not be made", lastTransitionTime: now };
    assert.deepEqual(lost, {
      ...running,
      conditions: [
        { type: "PodScheduled", status: "True", lastTransitionTime: then },
        { type: "ContainersReady", status: "False", ...why },
        { type: "Ready", status: "False", ...why },
      ],
      containerStatuses: [
        { name: "app", ready: false, restartCount: 2, image: "app", imageID: "", state: { running: {} } },
      ],
    });
  });

  const unready: [string, PodStatus | undefined][] = [
    ["is lost already", lost],
    ["has no status", undefined],
    ["has not started", { phase: "Pending" }],
    [
      "crashes",
      { phase: "Running", conditions: [{ type: "Ready", status: "False", reason: "ContainersNotReady" }] },
    ],
  ];
  for (const [what, status] of unready) {
    it(`says nothing of a pod that ${what}`, () => {
      assert.equal(lostStatus(status, "another reason", now), undefined);
    });
  }
});

describe("refusedStatus", () => {
  const scheduled = [{ type: "PodScheduled", status: "True", lastTransitionTime: then }];
  const waiting: [string, PodStatus | undefined, PodStatus][] = [
    ["has no status", undefined, { phase: "Pending" }],
    [
      "has been scheduled",
      { phase: "Pending", qosClass: "Burstable", conditions: scheduled },
      { phase: "Pending", qosClass: "Burstable", conditions: scheduled },
    ],
    [
      "was refused for another reason",
      { phase: "Pending", reason: "OffloadingRefused", message: "no quota" },
      { phase: "Pending" },
    ],
  ];
  for (const [what, status, rest] of waiting) {
    it(`tells why to a pod that ${what}`, () =>
      assert.deepEqual(refusedStatus(status, "no node of its choice"), {
        ...rest,
        reason: "OffloadingRefused",
        message: "no node of its choice",
      }));
  }

  const others: [string, PodStatus][] = [
    ["runs", running],
    ["starts", { phase: "Pending", containerStatuses: running.containerStatuses }],
    ["has ended", { phase: "Failed", reason: "OffloadingAborted" }],
  ];
  for (const [what, status] of others) {
    it(`says nothing of a pod that ${what}`, () =>
      assert.equal(refusedStatus(status, "no node of its choice"), undefined));
  }
});

describe("takenStatus", () => {
  it("ends what was said of a refusal, and nothing else", () => {
    const waiting: PodStatus = { phase: "Pending", qosClass: "Burstable" };
    assert.deepEqual(takenStatus(refusedStatus(waiting, "no quota")), waiting);
    const other = { ...waiting, reason: "OffloadingBackOff", message: "waits" };
    assert.deepEqual(takenStatus(other), other);
    assert.deepEqual(takenStatus(undefined), {});
  });
});

const runningAndReady: PodStatus = {
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
      const status = rejectedStatus(runningAndReady, { phase, reason: "Why" }, now);
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
    const once = rejectedStatus(runningAndReady, { phase: "Failed", reason: "Why", message: "because" }, now);
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
