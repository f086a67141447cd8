import assert from "node:assert/strict";

import { TestClock } from "../../support/test-clock";
import { ShadowPodExpectations } from "../../../runtime/offloading/shadow-pod-expectations";

describe("ShadowPodExpectations", () => {
  let clock: TestClock;
  let expectations: ShadowPodExpectations;
  beforeEach(() => {
    clock = new TestClock();
    expectations = new ShadowPodExpectations(clock);
  });

  it("knows how long a pod has been without its owner, and of no other owner's pod", async () => {
    expectations.abandon("shop/web", "old");
    await clock.advance(1_500);
    assert.equal(expectations.abandonedForMs("shop/web", "old"), 1_500);
    assert.equal(expectations.abandonedForMs("shop/web", "new"), undefined);
    assert.equal(expectations.abandonedForMs("shop/web", undefined), undefined);
    assert.equal(expectations.abandonedForMs("shop/db", "old"), undefined);
  });

  it("sees the garbage collector at work, and its end", async () => {
    expectations.abandon("shop/web", "a");
    assert.equal(expectations.isCollecting, false);
    expectations.gone("shop/web", "a");
    assert.equal(expectations.isCollecting, true);
    assert.equal(expectations.abandonedForMs("shop/web", "a"), undefined);
    await clock.advance(1_000);
    assert.equal(expectations.isCollecting, false);
  });

  it("does not take its own deletions, or those of other pods, for the garbage collector's", () => {
    expectations.abandon("shop/web", "a");
    expectations.removing("shop/web");
    expectations.gone("shop/web", "a");
    expectations.gone("shop/db", "b");
    assert.equal(expectations.isCollecting, false);
  });
});
