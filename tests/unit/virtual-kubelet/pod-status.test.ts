import type { PodStatus } from "kubernetes-types/core/v1";
import assert from "node:assert/strict";

import { ipTranslation, sameIp, withinNetworks } from "../../../runtime/virtual-kubelet/peer/peer-network";
import {
  localStatus,
  rememberRestarts,
  type RestartMemory,
  type StatusContext,
} from "../../../runtime/virtual-kubelet/pods/pod-status";

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

describe("without networking", () => {
  it("addresses stay as they are", () => {
    assert.equal(localStatus(remote, undefined, context({ translateIp: sameIp })).podIP, "10.244.3.17");
  });
});

const counted = (restartCount: number, name = "app"): PodStatus => ({
  containerStatuses: [{ name, restartCount, ready: true, image: "", imageID: "" }],
});

describe("rememberRestarts", () => {
  const first: RestartMemory = { localUid: "l1", remoteUid: "r1", offset: 0 };
  const cases: {
    what: string;
    memory?: RestartMemory;
    local?: PodStatus;
    localUid?: string;
    remote?: PodStatus;
    remoteUid?: string;
    offset: number;
  }[] = [
    { what: "starts from nothing", offset: 0 },
    {
      what: "takes up what the local pod shows after a start",
      local: counted(5),
      remote: counted(2),
      offset: 3,
    },
    { what: "never counts below the remote pod", local: counted(1), remote: counted(4), offset: 0 },
    {
      what: "counts from zero where the remote has no such container",
      local: counted(2),
      remote: counted(9, "x"),
      offset: 2,
    },
    {
      what: "keeps its count for the same remote pod",
      memory: { ...first, offset: 2 },
      local: counted(9),
      offset: 2,
    },
    {
      what: "counts a remote pod that replaced another",
      memory: { ...first, offset: 2 },
      remoteUid: "r2",
      offset: 3,
    },
    {
      what: "forgets an earlier local pod of that name",
      memory: { ...first, offset: 7 },
      localUid: "l2",
      remoteUid: "r2",
      offset: 0,
    },
  ];
  for (const { what, memory, local, remote, offset, localUid = "l1", remoteUid = "r1" } of cases) {
    it(what, () => {
      const remembered = rememberRestarts(
        memory,
        { uid: localUid, status: local },
        { uid: remoteUid, status: remote },
      );
      assert.deepEqual(remembered, { localUid, remoteUid, offset });
    });
  }
});

const networks = withinNetworks([
  { original: "10.244.0.0/16", remapped: "10.71.0.0/16" },
  { original: "10.70.0.0/20", remapped: "10.68.0.0/20" },
]);

describe("a pod whose address is withheld", () => {
  const now = "2026-03-04T05:06:07Z";
  const context = {
    nodeIp: "10.200.0.5",
    translateIp: networks,
    reflectIps: true,
    restartOffset: 0,
    readinessGates: [],
    unavailable: false,
    now,
  };
  const ready = { type: "Ready", status: "True", lastTransitionTime: now };
  const withheld = localStatus(
    { podIP: "172.18.0.2", podIPs: [{ ip: "172.18.0.2" }], conditions: [ready] },
    { podIP: "10.71.3.17", podIPs: [{ ip: "10.71.3.17" }] },
    context,
  );

  it("shows none and says why", () => {
    assert.equal(withheld.podIP, undefined);
    assert.equal(withheld.podIPs, undefined);
    const [first, why, ...others] = withheld.conditions ?? [];
    assert.deepEqual([first, others], [ready, []]);
    assert.equal(why?.type, "liqo.io/AddressReflected");
    assert.equal(why.status, "False");
    assert.match(why.message ?? "", /reports the address 172\.18\.0\.2, which is in none of its networks/);
  });

  it("says so since the same time, and no longer than it lasts", () => {
    const later = localStatus({ podIP: "172.18.0.2", conditions: [ready] }, withheld, {
      ...context,
      now: "2026-03-04T06:00:00Z",
    });
    assert.deepEqual(later.conditions, withheld.conditions);
    const over = localStatus({ podIP: "10.244.3.17", conditions: [ready] }, later, context);
    assert.deepEqual([over.podIP, over.conditions], ["10.71.3.17", [ready]]);
  });

  it("is not talked into it by a condition of the provider's", () => {
    const forged = { type: "liqo.io/AddressReflected", status: "True" };
    const status = localStatus({ podIP: "10.244.3.17", conditions: [ready, forged] }, undefined, context);
    assert.deepEqual(status.conditions, [ready]);
  });
});
