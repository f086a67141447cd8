import assert from "node:assert/strict";

import { TestClock } from "../../support/test-clock";
import { ShadowPodMemory } from "../../../runtime/offloading/shadow-pod-memory";

describe("ShadowPodMemory", () => {
  let clock: TestClock;
  let memory: ShadowPodMemory;
  beforeEach(() => {
    clock = new TestClock();
    memory = new ShadowPodMemory(clock);
  });

  it("knows how long a pod has been without its owner, and of no other owner's pod", async () => {
    memory.abandon("shop/web", "old");
    await clock.advance(1_500);
    assert.equal(memory.abandonedForMs("shop/web", "old"), 1_500);
    assert.equal(memory.abandonedForMs("shop/web", "new"), undefined);
    assert.equal(memory.abandonedForMs("shop/web", undefined), undefined);
    assert.equal(memory.abandonedForMs("shop/db", "old"), undefined);
  });

  it("sees the garbage collector at work, and its end", async () => {
    memory.abandon("shop/web", "a");
    assert.equal(memory.isCollecting, false);
    memory.gone("shop/web", "a");
    assert.equal(memory.isCollecting, true);
    assert.equal(memory.abandonedForMs("shop/web", "a"), undefined);
    await clock.advance(1_000);
    assert.equal(memory.isCollecting, false);
  });

  it("does not take its own deletions, or those of other pods, for the garbage collector's", () => {
    memory.abandon("shop/web", "a");
    memory.removing("shop/web");
    memory.gone("shop/web", "a");
    memory.gone("shop/db", "b");
    assert.equal(memory.isCollecting, false);
  });
});
