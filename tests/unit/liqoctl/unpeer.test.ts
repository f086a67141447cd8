import assert from "node:assert/strict";

import { type AtStake, sayAtStake } from "../../../runtime/liqoctl/commands/unpeer";

describe("what ends with a peering", () => {
  const sentences: [AtStake, string | undefined][] = [
    [{ virtualNodes: [], pods: 0, namespaces: [] }, undefined],
    [{ virtualNodes: ["milan"], pods: 0, namespaces: [] }, "This removes 1 virtual node (milan) with 0 pods"],
    [
      { virtualNodes: ["milan", "pool"], pods: 1, namespaces: ["shop"] },
      "This removes 2 virtual nodes (milan, pool) with 1 pod, and what 1 offloaded namespace (shop) has at milan",
    ],
    [
      { virtualNodes: [], pods: 0, namespaces: ["a", "b", "c", "d", "e", "f", "g"] },
      "This removes what 7 offloaded namespaces (a, b, c, d, e and 2 more) have at milan",
    ],
  ];
  for (const [atStake, sentence] of sentences)
    it(sentence ?? "says nothing of nothing", () => assert.equal(sayAtStake(atStake, "milan"), sentence));
});
