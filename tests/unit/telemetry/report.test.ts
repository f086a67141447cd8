import assert from "node:assert/strict";

import { ForeignCluster, type Namespace, NamespaceOffloading, type Node } from "../../../runtime/api";
import { type TelemetryFacts, telemetryReport } from "../../../runtime/telemetry/report";

const node = (name: string, labels: Record<string, string> = {}): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, labels },
  spec: {},
});
const peer = (clusterID: string, role: "Provider" | "Consumer"): ForeignCluster =>
  ForeignCluster.parse({
    apiVersion: ForeignCluster.apiVersion,
    kind: "ForeignCluster",
    metadata: { name: clusterID },
    spec: { clusterID },
    status: {
      role,
      modules: {
        networking: { enabled: clusterID === "milan" },
        authentication: { enabled: true },
        offloading: { enabled: role === "Provider" },
      },
    },
  });
const offloading = (namespace: string, terms: object[]): NamespaceOffloading =>
  NamespaceOffloading.parse({
    apiVersion: NamespaceOffloading.apiVersion,
    kind: "NamespaceOffloading",
    metadata: { name: "offloading", namespace },
    spec: { clusterSelector: { nodeSelectorTerms: terms } },
  });
const namespace = (name: string, uid: string): Namespace => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, uid },
});

const facts: TelemetryFacts = {
  clusterID: "an-id",
  liqoVersion: "0.1.0",
  kubernetesVersion: "v1.34.4",
  provider: "",
  nodes: [node("rome-1"), node("milan", { "liqo.io/type": "virtual-node" })],
  foreignClusters: [peer("milan", "Provider"), peer("turin", "Consumer")],
  peers: new Map([
    ["milan", { latency: "12ms", nodes: 2, virtualNodes: 3, resourceSlices: 4 }],
    ["turin", { latency: "412\u03bcs", nodes: 0, virtualNodes: 0, resourceSlices: 0 }],
  ]),
  offloadings: [
    offloading("shop", [{ matchExpressions: [{ key: "region", operator: "Exists" }] }]),
    offloading("lab", []),
  ],
  namespaces: [namespace("lab", "uid-lab"), namespace("shop", "uid-shop")],
  offloadedPods: [
    { namespace: "shop", clusterID: "milan" },
    { namespace: "shop", clusterID: "milan" },
    { namespace: "shop", clusterID: "genoa" },
    { namespace: "elsewhere", clusterID: "milan" },
  ],
};

describe("a telemetry report", () => {
  const report = telemetryReport(facts);

  it("leaves virtual nodes out", () => {
    assert.deepEqual(Object.keys(report.nodesInfo), ["rome-1"]);
  });

  it("has each peer with its modules, its latency in nanoseconds and what is there of it", () => {
    assert.deepEqual(report.peeringInfo, [
      {
        remoteClusterID: "milan",
        modules: {
          networking: { enabled: true },
          authentication: { enabled: true },
          offloading: { enabled: true },
        },
        role: "Provider",
        latency: 12_000_000,
        nodesNumber: 2,
        virtualNodesNumber: 3,
        resourceSliceNumber: 4,
      },
      {
        remoteClusterID: "turin",
        modules: {
          networking: { enabled: false },
          authentication: { enabled: true },
          offloading: { enabled: false },
        },
        role: "Consumer",
        latency: 412_000,
        nodesNumber: 0,
        virtualNodesNumber: 0,
        resourceSliceNumber: 0,
      },
    ]);
  });

  it("has offloaded namespaces by their UID, with pods by cluster, and no name", () => {
    assert.deepEqual(
      report.namespacesInfo.map(({ uid, hasClusterSelector, numOffloadedPods }) => [
        uid,
        hasClusterSelector,
        numOffloadedPods,
      ]),
      [
        ["uid-shop", true, { milan: 2, genoa: 1 }],
        ["uid-lab", false, {}],
      ],
    );
    assert.doesNotMatch(JSON.stringify(report), /"shop"|"lab"/);
  });
});
