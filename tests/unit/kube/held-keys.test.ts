import assert from "node:assert/strict";

import { HeldKeys } from "../../../runtime/kube";
import { TestClock } from "../../support/test-clock";

describe("HeldKeys", () => {
  let clock: TestClock;
  let told: string[];
  let held: HeldKeys;

  beforeEach(() => {
    clock = new TestClock();
    told = [];
    held = new HeldKeys(clock, (key) => told.push(key));
  });

  it("holds nothing in quiet times", async () => {
    assert.equal(held.hold("shop/web-0"), false);
    held.busy();
    await clock.advance(500);
    assert.equal(held.hold("shop/web-0"), false);
    await clock.advance(10_000);
    assert.deepEqual(told, []);
  });

  it("tells each key once, and all after half a second of quiet", async () => {
    held.busy();
    assert.equal(held.hold("shop/web-0"), true);
    await clock.advance(300);
    held.busy();
    assert.equal(held.hold("shop/web-1"), true);
    assert.equal(held.hold("shop/web-0"), true);
    await clock.advance(499);
    assert.deepEqual(told, []);
    await clock.advance(1);
    assert.deepEqual(told, ["shop/web-0", "shop/web-1"]);
    await clock.advance(10_000);
    assert.equal(told.length, 2);
  });

  it("holds again after it has told", async () => {
    held.busy();
    held.hold("shop/web-0");
    await clock.advance(500);
    held.busy();
    assert.equal(held.hold("shop/web-2"), true);
    await clock.advance(500);
    assert.deepEqual(told, ["shop/web-0", "shop/web-2"]);
  });

  it("tells all at once when it is asked to", async () => {
    held.busy();
    held.hold("shop/web-0");
    held.flush();
    assert.deepEqual(told, ["shop/web-0"]);
    await clock.advance(10_000);
    assert.deepEqual(told, ["shop/web-0"]);
  });

  it("tells nothing after its end", async () => {
    held.busy();
    held.hold("shop/web-0");
    held.end();
    await clock.advance(10_000);
    assert.deepEqual(told, []);
  });
});
