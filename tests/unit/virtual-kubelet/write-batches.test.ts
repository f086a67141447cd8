import assert from "node:assert/strict";

import { TestClock } from "../../support/test-clock";

import { WriteBatches } from "../../../runtime/virtual-kubelet/pods/pod-status-writer";

describe("batches of writes", () => {
  let clock: TestClock;
  let batches: WriteBatches;
  beforeEach(() => {
    clock = new TestClock();
    batches = new WriteBatches(clock);
  });
  const turns = (count: number) => Array.from({ length: count }, () => batches.turn() - clock.monotonic());

  it("let the first twenty go at once, and those behind them together", () => {
    assert.deepEqual(turns(20), Array<number>(20).fill(0));
    assert.deepEqual(turns(3), [400, 400, 400]);
  });

  it("go 400 ms after each other for as long as many are due", async () => {
    turns(20);
    assert.deepEqual(turns(1), [400]);
    await clock.advance(300);
    assert.deepEqual(turns(2), [100, 100]);
    await clock.advance(100);
    assert.deepEqual(turns(1), [400]);
  });

  it("hold nothing up that comes once a second", async () => {
    turns(20);
    for (let second = 0; second < 5; second++) {
      await clock.advance(1_000);
      assert.deepEqual(turns(1), [0]);
    }
  });

  it("give back what was free after a while of quiet", async () => {
    turns(25);
    await clock.advance(10_000);
    assert.deepEqual(turns(21), [...Array<number>(20).fill(0), 400]);
  });
});
