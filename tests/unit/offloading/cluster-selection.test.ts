import assert from "node:assert/strict";

import {
  labelsWithoutNode,
  selectClusters,
  type SelectableVirtualNode,
} from "../../../runtime/offloading/cluster-selection";

const inB = { nodeSelectorTerms: [{ matchExpressions: [{ key: "region", operator: "In", values: ["B"] }] }] };
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

describe("the clusters that a selector takes", () => {
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
