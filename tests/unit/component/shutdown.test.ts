import assert from "node:assert/strict";

import { untilShutDown } from "../../../runtime/component/shutdown";
import { TestClock } from "../../support/test-clock";

describe("the end of a process", () => {
  it("leaves no timer behind once all is done, though some of it failed", async () => {
    const clock = new TestClock();
    await untilShutDown([Promise.resolve(), Promise.reject(new Error("no answer"))], clock);
    assert.deepEqual([clock.waiting, clock.monotonic()], [0, 0]);
  });

  it("does not wait for ever", async () => {
    const clock = new TestClock();
    let ended = false;
    const waiting = untilShutDown([new Promise(() => undefined)], clock).then(() => (ended = true));
    await clock.advance(4_999);
    assert.equal(ended, false);
    await clock.advance(1);
    await waiting;
    assert.equal(clock.waiting, 0);
  });
});
