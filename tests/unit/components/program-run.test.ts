import assert from "node:assert/strict";

import { claimPair } from "../../../components/core/program-run";

describe("the networks of two clusters", () => {
  it("are connected by one component, whoever is the consumer", () => {
    const pairs = new Map<string, string>();
    claimPair(pairs, 'NetworkPeering "forth"', ["rome", "milan"]);
    claimPair(pairs, 'NetworkPeering "forth"', ["rome", "milan"]);
    claimPair(pairs, 'NetworkPeering "other"', ["rome", "turin"]);
    assert.throws(
      () => claimPair(pairs, 'NetworkPeering "back"', ["milan", "rome"]),
      /NetworkPeering "back": the networks of milan and rome are connected by NetworkPeering "forth" already.*enabled: false/,
    );
  });
});
