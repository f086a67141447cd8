import assert from "node:assert/strict";

import type { Node } from "../../../runtime/api/kubernetes";
import { nodeMetadata, nodeMetadataPatch } from "../../../runtime/virtual-kubelet/node/node-metadata";
import { nodeConditions, nodeStatusPatch } from "../../../runtime/virtual-kubelet/node/node-status";

const extras = {
  clusterId: "milan",
  labels: { "topology.kubernetes.io/zone": "b", "kubernetes.io/hostname": "not-mine" },
  annotations: { note: "n" },
  taints: [{ key: "gpu", value: "only", effect: "NoSchedule" }],
  storage: true,
};
const node = (changes: Partial<Node> = {}): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "milan-gpu", resourceVersion: "7" },
  spec: {},
  ...changes,
});
/** The Node as the API server has it after the patch was applied. */
const made = (metadata: ReturnType<typeof nodeMetadata>): Node =>
  node({
    metadata: {
      name: "milan-gpu",
      resourceVersion: "7",
      labels: { ...metadata.labels, theirs: "t" },
      annotations: { ...metadata.annotations, theirs: "t" },
    },
    spec: { taints: [...metadata.taints] },
  });

describe("nodeMetadata", () => {
  it("marks the node as virtual", () => {
    const { labels, taints } = nodeMetadata("milan-gpu", extras);
    assert.deepEqual(labels, {
      "topology.kubernetes.io/zone": "b",
      "liqo.io/type": "virtual-node",
      type: "virtual-kubelet",
      "liqo.io/remote-cluster-id": "milan",
      "storage.liqo.io/available": "true",
      "kubernetes.io/hostname": "milan-gpu",
      "kubernetes.io/role": "agent",
      "kubernetes.io/os": "linux",
      "kubernetes.io/arch": "amd64",
      "node.kubernetes.io/exclude-from-external-load-balancers": "true",
      "alpha.service-controller.kubernetes.io/exclude-balancer": "true",
    });
    assert.deepEqual(taints, [
      { key: "gpu", value: "only", effect: "NoSchedule" },
      { key: "virtual-node.liqo.io/not-allowed", value: "true", effect: "NoExecute" },
    ]);
  });
});

describe("nodeMetadataPatch", () => {
  const desired = nodeMetadata("milan-gpu", extras);

  it("finds nothing to do for what it made", () =>
    assert.equal(nodeMetadataPatch(made(desired), desired), undefined));

  it("leaves the taints of the node lifecycle controller", () => {
    const unreachable = { key: "node.kubernetes.io/unreachable", effect: "NoExecute", timeAdded: "t" };
    const existing = made(desired);
    existing.spec.taints = [...(existing.spec.taints ?? []), unreachable];
    assert.equal(nodeMetadataPatch(existing, desired), undefined);
    const without = nodeMetadata("milan-gpu", { ...extras, taints: [] });
    assert.deepEqual(nodeMetadataPatch(existing, without)?.spec, {
      taints: [unreachable, ...without.taints],
    });
  });

  it("restores what was edited by hand", () => {
    const existing = made(desired);
    delete existing.metadata.labels?.["liqo.io/type"];
    existing.spec.taints = [];
    const patch = nodeMetadataPatch(existing, desired);
    assert.deepEqual(patch, {
      metadata: { resourceVersion: "7", labels: { "liqo.io/type": "virtual-node" } },
      spec: { taints: desired.taints },
    });
  });

  it("removes what is no longer desired, and nothing else", () => {
    const fewer = nodeMetadata("milan-gpu", { clusterId: "milan", storage: false });
    const patch = nodeMetadataPatch(made(desired), fewer);
    assert.deepEqual((patch?.metadata as { labels: unknown }).labels, {
      "storage.liqo.io/available": "false",
      "topology.kubernetes.io/zone": null,
    });
    assert.equal((patch?.metadata as { annotations: Record<string, unknown> }).annotations.note, null);
  });

  it("reads the record of upstream's virtual kubelet", () => {
    const existing = made(nodeMetadata("milan-gpu", { clusterId: "milan", storage: true }));
    existing.metadata.labels = { ...existing.metadata.labels, old: "o" };
    existing.metadata.annotations = {
      "virtual-kubelet.io/last-applied-object-meta": JSON.stringify({
        name: "milan-gpu",
        labels: { old: "o" },
      }),
    };
    const patch = nodeMetadataPatch(
      existing,
      nodeMetadata("milan-gpu", { clusterId: "milan", storage: true }),
    );
    assert.deepEqual((patch?.metadata as { labels: unknown }).labels, { old: null });
  });
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
