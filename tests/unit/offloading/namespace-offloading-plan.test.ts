import assert from "node:assert/strict";

import type { NamespaceMap } from "../../../runtime/api";
import {
  type CompetingOffloading,
  labelsWithoutNode,
  planMapping,
  planRemoval,
  selectClusters,
  type SelectableVirtualNode,
} from "../../../runtime/offloading/namespace-offloading-plan";

const map = (
  name: string,
  desiredMapping: Record<string, string> = {},
  metadata: object = {},
): NamespaceMap => ({
  apiVersion: "offloading.liqo.io/v1beta1",
  kind: "NamespaceMap",
  metadata: { name, namespace: `liqo-tenant-${name}`, ...metadata },
  spec: { desiredMapping },
});

describe("the clusters that a selector takes", () => {
  const inB = {
    nodeSelectorTerms: [{ matchExpressions: [{ key: "region", operator: "In", values: ["B"] }] }],
  };
  const virtualNode = (
    name: string,
    clusterID: string,
    region: string,
    deleting = false,
  ): SelectableVirtualNode => ({
    name,
    clusterID,
    labels: { region },
    deleting,
  });

  const table: [title: string, nodes: SelectableVirtualNode[], expected: Record<string, string>][] = [
    ["none without virtual nodes", [], {}],
    [
      "by the labels",
      [virtualNode("m", "milan", "B"), virtualNode("t", "turin", "A")],
      { milan: "selected", turin: "excluded" },
    ],
    [
      "where one of several virtual nodes matches, in either order",
      [
        virtualNode("m1", "milan", "A"),
        virtualNode("m2", "milan", "B"),
        virtualNode("t1", "turin", "B"),
        virtualNode("t2", "turin", "A"),
      ],
      { milan: "selected", turin: "selected" },
    ],
    [
      "undecided where every virtual node is on its way out",
      [virtualNode("m", "milan", "A", true)],
      { milan: "undecided" },
    ],
    [
      "by the virtual nodes that stay",
      [virtualNode("m1", "milan", "B", true), virtualNode("m2", "milan", "A")],
      { milan: "excluded" },
    ],
    [
      "by the virtual nodes that stay, the leaving last",
      [virtualNode("m2", "milan", "A"), virtualNode("m1", "milan", "B", true)],
      { milan: "excluded" },
    ],
  ];
  for (const [title, nodes, expected] of table) {
    it(title, () => assert.deepEqual(Object.fromEntries(selectClusters(inB, nodes)), expected));
  }

  it("are all of them without a selector", () => {
    const selections = selectClusters(undefined, [virtualNode("m", "milan", "A")]);
    assert.deepEqual(Object.fromEntries(selections), { milan: "selected" });
  });

  it("are told by the spec while the Node does not exist", () => {
    assert.deepEqual(
      labelsWithoutNode({ clusterID: "milan", labels: { region: "B" }, storageClasses: [{}] }),
      {
        region: "B",
        "liqo.io/remote-cluster-id": "milan",
        "storage.liqo.io/available": "true",
      },
    );
    assert.equal(labelsWithoutNode({ clusterID: "milan" })["storage.liqo.io/available"], "false");
  });
});

describe("a namespace's place in the maps", () => {
  const node = (
    name: string,
    clusterID: string,
    region: string,
    deleting = false,
  ): SelectableVirtualNode => ({
    name,
    clusterID,
    labels: { region },
    deleting,
  });
  const inB = {
    nodeSelectorTerms: [{ matchExpressions: [{ key: "region", operator: "In", values: ["B"] }] }],
  };
  const plan = (virtualNodes: SelectableVirtualNode[], ...maps: NamespaceMap[]) =>
    planBeside([], virtualNodes, ...maps);
  const planBeside = (
    competing: CompetingOffloading[],
    virtualNodes: SelectableVirtualNode[],
    ...maps: NamespaceMap[]
  ) => {
    const { edits, waiting, refused } = planMapping({
      namespace: "shop",
      remoteName: "shop-rome",
      createdAt: "2026-03-01T10:00:00Z",
      selector: inB,
      competing,
      virtualNodes,
      maps: new Map(maps.map((one) => [one.metadata.name, one])),
    });
    return [
      ...edits.map(({ map: { metadata }, remoteName }) => `${metadata.name}=${remoteName}`),
      ...waiting.map((name) => `${name}?`),
      ...[...refused].map(([cluster, holder]) => `${cluster}:${holder}`),
    ];
  };

  const table: [title: string, actual: () => string[], expected: string[]][] = [
    [
      "is entered where its cluster is selected",
      () => plan([node("m", "milan", "B")], map("milan")),
      ["milan=shop-rome"],
    ],
    ["stays where it is", () => plan([node("m", "milan", "B")], map("milan", { shop: "shop-rome" })), []],
    [
      "is corrected",
      () => plan([node("m", "milan", "B")], map("milan", { shop: "other" })),
      ["milan=shop-rome"],
    ],
    [
      "is taken back where its cluster is not selected",
      () => plan([node("m", "milan", "A")], map("milan", { shop: "shop-rome", more: "x" })),
      ["milan=undefined"],
    ],
    [
      "is left where the virtual nodes are leaving",
      () => plan([node("m", "milan", "A", true)], map("milan", { shop: "shop-rome" })),
      [],
    ],
    [
      "is left where there is no virtual node at the moment",
      () => plan([], map("milan", { shop: "shop-rome" })),
      [],
    ],
    [
      "waits for a map that is not there yet",
      () => plan([node("m", "milan", "B"), node("t", "turin", "A")]),
      ["milan?"],
    ],
    [
      "differs from cluster to cluster",
      () =>
        plan(
          [node("m", "milan", "B"), node("t", "turin", "A")],
          map("milan"),
          map("turin", { shop: "shop-rome" }),
        ),
      ["milan=shop-rome", "turin=undefined"],
    ],
  ];
  for (const [title, actual, expected] of table) {
    it(title, () => assert.deepEqual(actual(), expected));
  }

  describe("beside another of the same remote name", () => {
    const competitor = (given: Partial<CompetingOffloading> = {}): CompetingOffloading => ({
      namespace: "b",
      createdAt: "2026-03-01T09:00:00Z",
      selector: undefined,
      deleting: false,
      ...given,
    });
    const younger = { createdAt: "2026-03-01T11:00:00Z" };
    const sameAge = { createdAt: "2026-03-01T10:00:00Z" };
    const leaving = (phase: "Terminating" | "Accepted" | "CreationLoopBackOff") => ({
      ...map("milan"),
      status: { currentMapping: { b: { remoteNamespace: "shop-rome", phase } } },
    });
    const taken = map("milan", { b: "shop-rome" });
    const shared = map("milan", { b: "shop-rome", shop: "shop-rome" });
    const rows: [title: string, competitor: CompetingOffloading[], map: NamespaceMap, expected: string[]][] =
      [
        ["gives way to an entry", [competitor(younger)], taken, ["milan:b"]],
        ["gives way to an entry that nobody stands behind", [], taken, ["milan:b"]],
        [
          "gives way to an entry that is being taken back",
          [competitor({ deleting: true })],
          taken,
          ["milan:b"],
        ],
        ["waits for what the provider still holds", [], leaving("Terminating"), ["milan:b"]],
        ["waits for what the provider has not heard of", [], leaving("Accepted"), ["milan:b"]],
        ["does not wait for what was never made", [], leaving("CreationLoopBackOff"), ["milan=shop-rome"]],
        ["keeps its entry from an older one", [competitor()], map("milan", { shop: "shop-rome" }), []],
        ["gives way to an older one", [competitor()], map("milan"), ["milan:b"]],
        ["goes before a younger one", [competitor(younger)], map("milan"), ["milan=shop-rome"]],
        [
          "gives way to one of its age that comes first by name",
          [competitor(sameAge)],
          map("milan"),
          ["milan:b"],
        ],
        [
          "goes before one of its age that comes later by name",
          [competitor({ ...sameAge, namespace: "tea" })],
          map("milan"),
          ["milan=shop-rome"],
        ],
        ["does not mind one that goes", [competitor({ deleting: true })], map("milan"), ["milan=shop-rome"]],
        [
          "does not mind one for other clusters",
          [
            competitor({
              selector: {
                nodeSelectorTerms: [{ matchExpressions: [{ key: "region", operator: "In", values: ["A"] }] }],
              },
            }),
          ],
          map("milan"),
          ["milan=shop-rome"],
        ],
        [
          "does not mind one whose selector is invalid",
          [
            competitor({
              selector: { nodeSelectorTerms: [{ matchExpressions: [{ key: "region", operator: "In" }] }] },
            }),
          ],
          map("milan"),
          ["milan=shop-rome"],
        ],
        [
          "is taken back where both are in, and it is younger",
          [competitor()],
          shared,
          ["milan=undefined", "milan:b"],
        ],
        ["stays where both are in, and it is older", [competitor(younger)], shared, []],
        ["stays where both are in, and the other goes", [competitor({ deleting: true })], shared, []],
      ];
    for (const [title, competing, given, expected] of rows)
      it(title, () => assert.deepEqual(planBeside(competing, [node("m", "milan", "B")], given), expected));
  });

  it("is given up everywhere in the end, and only where it is", () => {
    const edits = planRemoval("shop", [map("milan", { shop: "shop-rome" }), map("turin", { more: "x" })]);
    assert.deepEqual(
      edits.map(({ map: { metadata } }) => metadata.name),
      ["milan"],
    );
  });
});
