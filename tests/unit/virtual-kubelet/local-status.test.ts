import type { PodStatus } from "kubernetes-types/core/v1";
import assert from "node:assert/strict";

import { ipTranslation, sameIp } from "../../../runtime/virtual-kubelet/peer/peer-network";
import { localStatus, type StatusContext } from "../../../runtime/virtual-kubelet/pods/pod-status";
import {
  statusPatch,
  type Urgency,
  urgencyOf,
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

describe("localStatus", () => {
  it("is the remote status with addresses as they are reachable from here", () => {
    assert.deepEqual(localStatus(remote, { qosClass: "BestEffort" }, context()), {
      phase: "Running",
      hostIP: "10.200.0.5",
      hostIPs: [{ ip: "10.200.0.5" }],
      podIP: "10.71.3.17",
      podIPs: [{ ip: "10.71.3.17" }],
      qosClass: "BestEffort",
      startTime: now,
      conditions: remote.conditions,
      containerStatuses: [container(1)],
    });
  });

  it("adds the restarts of earlier remote pods", () => {
    const status = localStatus(remote, undefined, context({ restartOffset: 2 }));
    assert.deepEqual(status.containerStatuses, [container(3)]);
  });

  it("shows no address where none is reachable", () => {
    const status = localStatus(remote, undefined, context({ reflectIps: false }));
    assert.equal(status.podIP, undefined);
    assert.equal(status.podIPs, undefined);
  });

  it("keeps the conditions and fields that belong to the local pod", () => {
    const disruption = { type: "DisruptionTarget", status: "True", reason: "EvictionByEvictionAPI" };
    const current = {
      conditions: [disruption, { type: "Initialized", status: "True" }],
      observedGeneration: 3,
    };
    const status = localStatus(
      {
        ...remote,
        conditions: [
          { type: "Ready", status: "True", observedGeneration: 9 } as { type: string; status: string },
        ],
      },
      current,
      context(),
    );
    assert.deepEqual(status.conditions, [{ type: "Ready", status: "True" }, disruption]);
    assert.equal((status as { observedGeneration?: number }).observedGeneration, 3);
  });

  it("is not ready on a virtual node that is not, since when it first was not", () => {
    const unavailable = context({ unavailable: true });
    const first = localStatus(remote, undefined, unavailable);
    const ready = first.conditions?.find(({ type }) => type === "Ready");
    assert.equal(ready?.status, "False");
    assert.equal(ready?.lastTransitionTime, now);
    const second = localStatus(remote, first, { ...unavailable, now: "2026-03-04T06:00:00Z" });
    assert.deepEqual(second, first);
  });
});

describe("localStatus of a pod with readiness gates", () => {
  const [feature, balancer] = ["www.example.com/feature", "target-health.example.com/web"];
  const earlier = "2026-03-04T04:00:00Z";
  const condition = (type: string, status: string, more = {}) => ({ type, status, ...more });
  const readyOf = (reported: PodStatus, own: PodStatus["conditions"], gates = [feature, balancer]) =>
    localStatus(reported, { conditions: own }, context({ readinessGates: gates })).conditions?.find(
      ({ type }) => type === "Ready",
    );
  const conditions = [condition("Ready", "True", { lastTransitionTime: earlier })];
  const notReady = condition("Ready", "False", { reason: "ContainersNotReady" });

  const rows: [what: string, reported: PodStatus, own: PodStatus["conditions"], expected: object][] = [
    [
      "nobody has set them",
      { conditions },
      [],
      {
        status: "False",
        reason: "ReadinessGatesNotReady",
        message: `corresponding condition of pod readiness gate "${feature}" does not exist., corresponding condition of pod readiness gate "${balancer}" does not exist.`,
        lastTransitionTime: now,
      },
    ],
    [
      "one is false",
      { conditions },
      [
        condition(feature, "True"),
        condition(balancer, "False"),
        condition("Ready", "False", { lastTransitionTime: earlier }),
      ],
      {
        status: "False",
        reason: "ReadinessGatesNotReady",
        message: `the status of pod readiness gate "${balancer}" is not "True", but False`,
        lastTransitionTime: earlier,
      },
    ],
    [
      "all are met",
      { conditions },
      [condition(feature, "True"), condition(balancer, "True")],
      { status: "True", lastTransitionTime: now },
    ],
    [
      "all are met and the containers are not ready",
      { conditions: [notReady] },
      [condition(feature, "True"), condition(balancer, "True")],
      { status: "False", reason: "ContainersNotReady" },
    ],
    [
      "the remote pod waits for gates of its own",
      {
        conditions: [
          condition("ContainersReady", "True"),
          condition("Ready", "False", { reason: "ReadinessGatesNotReady" }),
        ],
      },
      [condition(feature, "True"), condition(balancer, "True")],
      { status: "True", lastTransitionTime: now },
    ],
    [
      "the provider claims that they are met",
      { conditions: [...conditions, condition(feature, "True"), condition(balancer, "True")] },
      [condition(feature, "True"), condition(balancer, "False")],
      {
        status: "False",
        reason: "ReadinessGatesNotReady",
        message: `the status of pod readiness gate "${balancer}" is not "True", but False`,
        lastTransitionTime: now,
      },
    ],
  ];
  for (const [what, reported, own, expected] of rows) {
    it(`is ready by what is set here: ${what}`, () =>
      assert.deepEqual(readyOf(reported, own), { type: "Ready", ...expected }));
  }

  it("keeps every condition that controllers of this cluster set, and takes none of the provider's", () => {
    const own = [condition(feature, "True"), condition("example.org/scanned", "True")];
    const reported = { conditions: [...conditions, condition("example.com/of-the-provider", "True")] };
    assert.deepEqual(localStatus(reported, { conditions: own }, context()).conditions, [
      ...conditions,
      ...own,
    ]);
  });
});

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

describe("without networking", () => {
  it("addresses stay as they are", () => {
    assert.equal(localStatus(remote, undefined, context({ translateIp: sameIp })).podIP, "10.244.3.17");
  });
});
