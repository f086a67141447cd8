import assert from "node:assert/strict";

import { WriteBackoff } from "../../../runtime/virtual-kubelet/objects/write-backoff";

describe("the correction of what others change", () => {
  const content = { data: { a: "1" } };

  it("comes at once a few times, then ever slower, at most every half minute", () => {
    let now = 0;
    const corrections = new WriteBackoff(() => now);
    const delays: number[] = [];
    for (let time = 0; time < 12; time++) {
      const delay = corrections.delayMs("shop/a", content);
      delays.push(delay);
      now += delay;
      assert.equal(corrections.delayMs("shop/a", content), 0);
      corrections.written("shop/a", { data: { a: "1" } }, `${time}`);
    }
    assert.deepEqual(delays, [0, 0, 0, 0, 0, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    assert.equal(corrections.delayMs("shop/b", content), 0, "another is not held back");
  });

  const disputed = (clock: () => number) => {
    const corrections = new WriteBackoff(clock);
    for (let time = 0; time < 8; time++) corrections.written("shop/a", content, `${time}`);
    assert.ok(corrections.delayMs("shop/a", content) > 0);
    return corrections;
  };

  it("does not hold back what its owner changes", () => {
    const corrections = disputed(() => 0);
    assert.equal(corrections.delayMs("shop/a", { data: { a: "2" } }), 0);
    corrections.written("shop/a", { data: { a: "2" } }, "9");
    assert.equal(corrections.delayMs("shop/a", { data: { a: "2" } }), 0);
  });

  it("counts no write that changed nothing, as before the cache has seen the last one", () => {
    const corrections = new WriteBackoff(() => 0);
    for (let time = 0; time < 20; time++) corrections.written("shop/a", content, "7");
    assert.equal(corrections.delayMs("shop/a", content), 0);
  });

  it("begins anew after a minute without trouble, and with another object of the name", () => {
    let now = 0;
    const settled = disputed(() => now);
    now += 60_001;
    assert.equal(settled.delayMs("shop/a", content), 0);
    const removed = disputed(() => 0);
    removed.forget("shop/a");
    assert.equal(removed.delayMs("shop/a", content), 0);
  });
});
