import assert from "node:assert/strict";
import { LongWaits } from "../../../runtime/networking/agent/routes-pass";

describe("long waits", () => {
  const DEVICE = "Cannot find device";

  it("are told once, after a while, and again when it is something else", () => {
    let now = 5_000;
    const waits = new LongWaits(() => now);
    assert.equal(waits.isToBeTold("a", DEVICE), false);
    now += 14_000;
    assert.equal(waits.isToBeTold("a", DEVICE), false);
    assert.equal(waits.isToBeTold("b", DEVICE), false, "b has just begun");
    now += 2_000;
    assert.equal(waits.isToBeTold("a", DEVICE), true);
    assert.equal(waits.isToBeTold("a", DEVICE), false);
    assert.equal(waits.isToBeTold("a", "Network is unreachable"), true);
  });

  it("begin anew for what did not wait in between", () => {
    let now = 0;
    const waits = new LongWaits(() => now);
    waits.isToBeTold("a", DEVICE);
    waits.isToBeTold("b", DEVICE);
    now += 20_000;
    waits.keep(new Set(["b"]));
    assert.equal(waits.isToBeTold("a", DEVICE), false);
    assert.equal(waits.isToBeTold("b", DEVICE), true);
  });
});
