import assert from "node:assert/strict";

import {
  type VirtualNodeConditionStatus,
  withConditions,
} from "../../../runtime/offloading/virtual-node-controller";

const then = "2026-03-01T10:00:00Z";
const now = "2026-03-01T11:00:00Z";

describe("the conditions of a virtual node", () => {
  type Step = [
    from: VirtualNodeConditionStatus | undefined,
    to: VirtualNodeConditionStatus,
    result: VirtualNodeConditionStatus,
  ];
  const table: Step[] = [
    [undefined, "Creating", "Creating"],
    ["None", "Creating", "Creating"],
    ["Creating", "Running", "Running"],
    ["Running", "Creating", "Running"],
    ["Running", "Draining", "Draining"],
    ["None", "Draining", "None"],
    ["None", "Deleting", "None"],
    ["Draining", "Deleting", "Deleting"],
    ["Deleting", "Draining", "Deleting"],
    ["Deleting", "None", "None"],
    ["Draining", "Running", "Running"],
  ];
  for (const [from, to, result] of table) {
    it(`go from ${from} by ${to} to ${result}`, () => {
      const before =
        from === undefined ? [] : [{ type: "Node" as const, status: from, lastTransitionTime: then }];
      const after = withConditions(before, { Node: to }, now);
      assert.deepEqual(after, [
        { type: "Node", status: result, lastTransitionTime: result === from ? then : now },
      ]);
    });
  }

  it("hold one entry a type, the first of those that were doubled", () => {
    const doubled = [
      { type: "Node" as const, status: "Running" as const, lastTransitionTime: then },
      { type: "Node" as const, status: "Creating" as const, lastTransitionTime: then },
    ];
    assert.deepEqual(withConditions(doubled, { VirtualKubelet: "Running" }, now), [
      { type: "VirtualKubelet", status: "Running", lastTransitionTime: now },
      doubled[0],
    ]);
  });
});
