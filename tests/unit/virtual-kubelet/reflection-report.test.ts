import assert from "node:assert/strict";

import { RefusalGracePeriod } from "../../../runtime/virtual-kubelet/reflection/reflection-report";

describe("patience with refusals", () => {
  let now = 0;
  let patience: RefusalGracePeriod;
  beforeEach(() => {
    now = 1_000;
    patience = new RefusalGracePeriod(() => now);
  });

  it("passes over those of the first seconds, and tells all after them", () => {
    assert.equal(patience.lasts("a"), false);
    now += 2_999;
    assert.equal(patience.lasts("a"), false);
    now += 1;
    assert.equal(patience.lasts("a"), true);
    now += 3_600_000;
    assert.equal(patience.lasts("a"), true);
  });

  it("begins anew with each object, and after a success", () => {
    patience.lasts("a");
    now += 5_000;
    assert.equal(patience.lasts("b"), false);
    assert.equal(patience.lasts("a"), true);
    patience.over("a");
    assert.equal(patience.lasts("a"), false);
  });

  it("remembers no more than ten thousand objects", () => {
    for (let i = 0; i <= 10_000; i++) patience.lasts(`object-${i}`);
    now += 5_000;
    assert.equal(patience.lasts("object-10000"), true);
    assert.equal(patience.lasts("object-1"), true);
    assert.equal(patience.lasts("object-0"), false);
  });
});
