import assert from "node:assert/strict";

import { ExpiringCache } from "../../../runtime/virtual-kubelet/kubelet/client-auth";

describe("ExpiringCache", () => {
  it("asks once for all, again after the lifetime, and forgets failures", async () => {
    let now = 0;
    let asked = 0;
    const cache = new ExpiringCache<number>(2, () => now);
    const ask = () => Promise.resolve(++asked);
    assert.deepEqual(await Promise.all([cache.get("a", 10, ask), cache.get("a", 10, ask)]), [1, 1]);
    now = 9;
    assert.equal(await cache.get("a", 10, ask), 1);
    now = 10;
    assert.equal(await cache.get("a", 10, ask), 2);
    await assert.rejects(
      cache.get("b", 10, () => Promise.reject(new Error("down"))),
      /down/,
    );
    assert.equal(await cache.get("b", 10, ask), 3);
  });

  it("makes room for the newest", async () => {
    const cache = new ExpiringCache<string>(2, () => 0);
    for (const key of ["a", "b", "c"]) await cache.get(key, 10, () => Promise.resolve(key));
    assert.equal(await cache.get("a", 10, () => Promise.resolve("again")), "again");
    assert.equal(await cache.get("c", 10, () => Promise.resolve("again")), "c");
  });
});
