import type { PodStatus } from "kubernetes-types/core/v1";
import assert from "node:assert/strict";

import { TestClock } from "../../support/test-clock";
import { ipTranslation } from "../../../runtime/virtual-kubelet/peer/peer-network";
import { localStatus, type StatusContext } from "../../../runtime/virtual-kubelet/pods/pod-status";
import {
  statusPatch,
  type Urgency,
  urgencyOf,
  WriteBatches,
} from "../../../runtime/virtual-kubelet/pods/pod-status-writer";

const now = "2026-03-04T05:06:07Z";

const context = (changes: Partial<StatusContext> = {}): StatusContext => ({
  nodeIp: "10.200.0.5",
  translateIp: ipTranslation([{ original: "10.244.0.0/16", remapped: "10.71.0.0/16" }]),
  reflectIps: true,
  restartOffset: 0,
  readinessGates: [],
  unavailable: false,
  now,
  ...changes,
});

const container = (restartCount: number) => ({
  name: "app",
  ready: true,
  restartCount,
  image: "app:1",
  imageID: "sha",
  state: { running: { startedAt: now } },
});

const remote: PodStatus = {
  phase: "Running",
  hostIP: "172.18.0.3",
  hostIPs: [{ ip: "172.18.0.3" }],
  podIP: "10.244.3.17",
  podIPs: [{ ip: "10.244.3.17" }, { ip: "fd00::17" }],
  qosClass: "Burstable",
  startTime: now,
  conditions: [{ type: "Ready", status: "True", lastTransitionTime: now }],
  containerStatuses: [container(1)],
  resourceClaimStatuses: [{ name: "gpu", resourceClaimName: "theirs" }],
};

describe("statusPatch", () => {
  const status = localStatus(remote, undefined, context());

  it("is nothing for equal statuses", () =>
    assert.equal(statusPatch(structuredClone(status), status), undefined));

  it("takes what is missing and what is empty for the same", () => {
    assert.equal(statusPatch({ phase: "Pending", podIPs: [], message: "" }, { phase: "Pending" }), undefined);
  });

  it("replaces lists that would be merged", () => {
    const moved = localStatus({ ...remote, podIP: "10.244.9.9" }, undefined, context());
    assert.deepEqual(statusPatch(status, moved), {
      podIP: "10.71.9.9",
      podIPs: [{ ip: "10.71.9.9" }, { $patch: "replace" }],
    });
  });

  it("removes what is gone", () => {
    assert.deepEqual(
      statusPatch(
        { phase: "Pending", reason: "OffloadingBackOff", conditions: [{ type: "Old", status: "True" }] },
        { phase: "Pending" },
      ),
      { reason: null, conditions: [{ type: "Old", $patch: "delete" }] },
    );
  });

  it("sends only the conditions that differ", () => {
    const before = {
      conditions: [
        { type: "Ready", status: "False", reason: "Starting", message: "m", lastTransitionTime: "t0" },
        { type: "Initialized", status: "True", lastTransitionTime: "t0" },
      ],
    };
    const after = {
      conditions: [
        { type: "Ready", status: "True", lastTransitionTime: "t1" },
        { type: "Initialized", status: "True", lastTransitionTime: "t0" },
      ],
    };
    assert.deepEqual(statusPatch(before, after), {
      conditions: [{ type: "Ready", status: "True", lastTransitionTime: "t1", reason: null, message: null }],
    });
  });
});

describe("urgencyOf", () => {
  const waiting = (reason: string): PodStatus => ({
    phase: "Pending",
    containerStatuses: [{ ...container(0), ready: false, state: { waiting: { reason } } }],
  });
  const ready = (status: string): PodStatus => ({ conditions: [{ type: "Ready", status }] });
  const cases: [what: string, current: PodStatus | undefined, desired: PodStatus, urgency: Urgency][] = [
    [
      "a pod that was scheduled",
      { phase: "Pending" },
      { phase: "Pending", conditions: [{ type: "PodScheduled", status: "True" }] },
      "later",
    ],
    ["containers being created", undefined, waiting("ContainerCreating"), "later"],
    ["an image that cannot be pulled", waiting("ContainerCreating"), waiting("ErrImagePull"), "now"],
    ["the same trouble as before", waiting("ErrImagePull"), waiting("ErrImagePull"), "later"],
    [
      "a pod that fits on no node",
      { phase: "Pending" },
      {
        phase: "Pending",
        conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/1" }],
      },
      "now",
    ],
    ["a start", { phase: "Pending" }, { phase: "Running" }, "soon"],
    ["a pod that was never seen before it ran", undefined, { phase: "Running", ...ready("True") }, "soon"],
    ["readiness", { phase: "Running" }, { phase: "Running", ...ready("True") }, "soon"],
    [
      "readiness that is lost",
      { phase: "Running", ...ready("True") },
      { phase: "Running", ...ready("False") },
      "now",
    ],
    [
      "anything else about a running pod",
      { phase: "Running" },
      { phase: "Running", podIP: "10.0.0.1" },
      "now",
    ],
    ["an end", { phase: "Running" }, { phase: "Failed" }, "now"],
    ["a pod that ended before it was seen to run", { phase: "Pending" }, { phase: "Succeeded" }, "now"],
  ];
  for (const [what, current, desired, urgency] of cases) {
    it(`is "${urgency}" for ${what}`, () => assert.equal(urgencyOf(current, desired), urgency));
  }
});

describe("batches of writes", () => {
  let clock: TestClock;
  let batches: WriteBatches;
  beforeEach(() => {
    clock = new TestClock();
    batches = new WriteBatches(clock);
  });
  const turns = (count: number) => Array.from({ length: count }, () => batches.turn() - clock.monotonic());

  it("let the first twenty go at once, and those behind them together", () => {
    assert.deepEqual(turns(20), Array<number>(20).fill(0));
    assert.deepEqual(turns(3), [400, 400, 400]);
  });

  it("go 400 ms after each other for as long as many are due", async () => {
    turns(20);
    assert.deepEqual(turns(1), [400]);
    await clock.advance(300);
    assert.deepEqual(turns(2), [100, 100]);
    await clock.advance(100);
    assert.deepEqual(turns(1), [400]);
  });

  it("hold nothing up that comes once a second", async () => {
    turns(20);
    for (let second = 0; second < 5; second++) {
      await clock.advance(1_000);
      assert.deepEqual(turns(1), [0]);
    }
  });

  it("give back what was free after a while of quiet", async () => {
    turns(25);
    await clock.advance(10_000);
    assert.deepEqual(turns(21), [...Array<number>(20).fill(0), 400]);
  });
});
