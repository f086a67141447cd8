import assert from "node:assert/strict";

import { surplus } from "../../../runtime/virtual-kubelet/hosting/replicas";

describe("surplus", () => {
  const cases: [hosted: string[], total: number, replicas: number, offered: string[], given: string[]][] = [
    [["a", "b", "c"], 3, 1, [], []],
    [["a", "b", "c"], 3, 2, [], ["c"]],
    [["a", "b", "c", "d"], 4, 2, [], ["d", "c"]],
    [["a", "b"], 4, 2, [], []],
    [["a", "b", "c", "d"], 4, 3, [], ["d", "c"]],
    [["a", "b", "c", "d"], 4, 2, ["d"], ["c", "b"]],
    [["a", "b"], 2, 2, ["a", "b"], []],
    [["a", "b"], 2, 0, [], []],
  ];
  for (const [hosted, total, replicas, offered, given] of cases) {
    it(`of ${hosted.join("")} with ${total} nodes and ${replicas} replicas is ${given.join("") || "nothing"}`, () => {
      assert.deepEqual(surplus(hosted, total, replicas, new Set(offered)), given);
    });
  }
});
