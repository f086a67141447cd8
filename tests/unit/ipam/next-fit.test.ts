import assert from "node:assert/strict";

import { NextFit } from "../../../runtime/ipam/next-fit";

describe("next fit", () => {
  it("goes on behind the number given last, and wraps", () => {
    const fit = new NextFit(1, 4);
    assert.deepEqual(
      ["a", "b", "c"].map((owner) => fit.acquire(owner)),
      [1, 2, 3],
    );
    fit.release("a");
    assert.deepEqual(
      ["d", "e", "f"].map((owner) => fit.acquire(owner)),
      [4, 1, undefined],
    );
    fit.release("c");
    assert.equal(fit.acquire("f"), 3);
  });

  it("gives an owner the number that it has", () => {
    const fit = new NextFit(0, 9);
    assert.equal(fit.acquire("a"), 0);
    assert.equal(fit.acquire("a"), 0);
    assert.equal(fit.numberOf("a"), 0);
    assert.equal(fit.numberOf("b"), undefined);
    assert.equal(fit.size, 1);
  });

  it("passes over numbers that are set aside, whatever was given before", () => {
    const fit = new NextFit(0, 3);
    assert.equal(fit.acquire("a"), 0);
    assert.equal(fit.acquire("b", 3), 3);
    assert.equal(fit.acquire("c", 2), 2);
    assert.equal(fit.acquire("d", 2), undefined);
    assert.equal(fit.acquire("d", 9), undefined);
    assert.equal(fit.acquire("d"), 1);
  });

  it("takes up numbers after a restart, and starts from the first", () => {
    const fit = new NextFit(5, 8);
    assert.equal(fit.adopt("a", 6), undefined);
    assert.equal(fit.adopt("a", 6), undefined);
    assert.equal(fit.adopt("b", 6), "a");
    assert.deepEqual(
      ["b", "c"].map((owner) => fit.acquire(owner)),
      [5, 7],
    );
    assert.equal(fit.adopt("a", 8), undefined);
    assert.equal(fit.acquire("d"), 6);
  });
});
