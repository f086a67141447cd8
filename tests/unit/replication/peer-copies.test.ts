import assert from "node:assert/strict";

import { Recreation } from "../../../runtime/replication/peer-copies";

describe("the making of copies that do not stay", () => {
  it("goes on at once the first time, then ever slower, at most every half minute", () => {
    let now = 0;
    const recreation = new Recreation(() => now);
    const delays: number[] = [];
    for (let time = 0; time < 8; time++) {
      const delay = recreation.delayMs("a");
      delays.push(delay);
      now += delay;
      assert.equal(recreation.delayMs("a"), 0);
      recreation.attempted("a");
    }
    assert.deepEqual(delays, [0, 0, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000]);
    assert.equal(recreation.delayMs("b"), 0, "another is not held back");
  });

  it("begins anew after a minute without trouble, and with a new source", () => {
    let now = 0;
    const recreation = new Recreation(() => now);
    for (let time = 0; time < 5; time++) recreation.attempted("a");
    assert.ok(recreation.delayMs("a") > 0);
    now += 60_001;
    assert.equal(recreation.delayMs("a"), 0);
    recreation.attempted("a");
    assert.equal(recreation.delayMs("a"), 0);
    for (let time = 0; time < 5; time++) recreation.attempted("a");
    recreation.forget("a");
    assert.equal(recreation.delayMs("a"), 0);
  });
});
