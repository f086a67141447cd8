import assert from "node:assert/strict";

import type { Node } from "../../../runtime/api/kubernetes";
import { nodeConditions, nodeStatusPatch } from "../../../runtime/virtual-kubelet/node/node-status";

const node = (changes: Partial<Node> = {}): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "milan-gpu", resourceVersion: "7" },
  spec: {},
  ...changes,
});

describe("nodeConditions", () => {
  const statusOf = (facts: Parameters<typeof nodeConditions>[0]) =>
    Object.fromEntries(nodeConditions(facts).map(({ type, status }) => [type, status]));
  const pressures = (status: string) => ({
    MemoryPressure: status,
    DiskPressure: status,
    PIDPressure: status,
  });
  const enough = { cpu: "500m", memory: "1Gi" };

  const cases: [
    what: string,
    facts: Parameters<typeof nodeConditions>[0],
    expected: Record<string, string>,
  ][] = [
    ["resources alone", { allocatable: enough }, { Ready: "True", ...pressures("False") }],
    ["no memory", { allocatable: { cpu: "4", memory: "0" } }, { Ready: "False", ...pressures("True") }],
    ["nothing", { allocatable: {} }, { Ready: "False", ...pressures("True") }],
    [
      "a network that is up",
      { allocatable: enough, networkReady: true },
      { Ready: "True", ...pressures("False"), NetworkUnavailable: "False" },
    ],
    [
      "a network that is down",
      { allocatable: enough, networkReady: false },
      { Ready: "False", ...pressures("False"), NetworkUnavailable: "True" },
    ],
  ];
  for (const [what, facts, expected] of cases) {
    it(`follow from ${what}`, () => assert.deepEqual(statusOf(facts), expected));
  }
});

describe("nodeStatusPatch", () => {
  const input = {
    resources: { cpu: "4000m", memory: "8Gi", pods: "110" },
    address: "10.200.0.5",
    port: 10250,
    kubeletVersion: "v1.34.4",
  };
  const timed = { now: "2026-03-04T05:06:07Z", heartbeatMs: 300_000 };
  const status = {
    capacity: { cpu: "4", memory: "8Gi", pods: "110" },
    allocatable: { cpu: "4", memory: "8Gi", pods: "110" },
    addresses: [{ type: "InternalIP", address: "10.200.0.5" }],
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    nodeInfo: {
      architecture: "amd64",
      operatingSystem: "Linux",
      kubeletVersion: "v1.34.4",
      bootID: "",
      containerRuntimeVersion: "",
      kernelVersion: "",
      kubeProxyVersion: "",
      machineID: "",
      osImage: "",
      systemUUID: "",
    },
    conditions: nodeConditions({ allocatable: input.resources }).map((condition) => ({
      ...condition,
      lastHeartbeatTime: "2026-03-04T05:05:00Z",
      lastTransitionTime: "2026-03-04T05:00:00Z",
    })),
  };

  it("writes nothing when nothing differs, however quantities are written", () => {
    assert.equal(nodeStatusPatch(node({ status }), input, timed), undefined);
  });

  it("removes resources that are no longer granted", () => {
    const patch = nodeStatusPatch(
      node({ status }),
      { ...input, resources: { cpu: "2", memory: "8Gi" } },
      timed,
    );
    assert.deepEqual(patch, {
      status: { capacity: { cpu: "2", pods: null }, allocatable: { cpu: "2", pods: null } },
    });
  });

  it("renews the heartbeat when it is old, and nothing else", () => {
    const patch = nodeStatusPatch(node({ status }), input, { ...timed, now: "2026-03-04T05:20:00Z" });
    assert.deepEqual(Object.keys(patch?.status ?? {}), ["conditions"]);
    assert.equal(patch?.status.conditions?.[0]?.lastTransitionTime, "2026-03-04T05:00:00Z");
    assert.equal(patch?.status.conditions?.[0]?.lastHeartbeatTime, "2026-03-04T05:20:00Z");
  });

  it("dates a transition, and drops a condition that no longer applies", () => {
    const withNetwork = {
      ...status,
      conditions: [
        ...status.conditions,
        { type: "NetworkUnavailable", status: "True", lastHeartbeatTime: timed.now },
        { type: "KernelDeadlock", status: "False", lastHeartbeatTime: timed.now },
      ],
    };
    const patch = nodeStatusPatch(node({ status: withNetwork }), { ...input, resources: {} }, timed);
    const conditions = patch?.status.conditions ?? [];
    const ready = conditions.find(({ type }) => type === "Ready");
    assert.equal(ready?.status, "False");
    assert.equal(ready?.lastTransitionTime, timed.now);
    assert.deepEqual(conditions.at(-1), { type: "NetworkUnavailable", $patch: "delete" });
    assert.ok(!conditions.some(({ type }) => type === "KernelDeadlock"));
  });

  it("fills a new node", () => {
    const patch = nodeStatusPatch(node(), input, timed);
    assert.deepEqual(patch?.status.capacity, input.resources);
    assert.equal(patch?.status.conditions?.length, 4);
    assert.equal(patch?.status.daemonEndpoints?.kubeletEndpoint?.Port, 10250);
  });
});
