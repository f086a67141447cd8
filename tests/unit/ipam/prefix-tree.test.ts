import assert from "node:assert/strict";

import { formatCidr, parseCidr } from "../../../runtime/ipam/cidr";
import { PrefixTree } from "../../../runtime/ipam/prefix-tree";

const cidr = parseCidr;

describe("prefix tree", () => {
  let tree: PrefixTree;
  beforeEach(() => (tree = new PrefixTree(cidr("10.0.0.0/8"))));
  const any = (length: number) => {
    const found = tree.acquireAny(length);
    return found && formatCidr(found);
  };

  it("keeps an exclusive network from everybody", () => {
    assert.ok(tree.acquire(cidr("10.4.0.0/16"), true));
    for (const other of ["10.4.0.0/16", "10.4.7.0/24", "10.0.0.0/12", "10.0.0.0/8"]) {
      assert.equal(tree.acquire(cidr(other), true), false, `${other} exclusive`);
      assert.equal(tree.acquire(cidr(other), false), false, `${other} shared`);
    }
    assert.ok(tree.acquire(cidr("10.5.0.0/16"), true));
  });

  it("lets shared networks contain each other, and keeps exclusive ones out of them", () => {
    assert.ok(tree.acquire(cidr("10.4.0.0/14"), false));
    assert.ok(tree.acquire(cidr("10.4.0.0/14"), false));
    assert.ok(tree.acquire(cidr("10.5.0.0/16"), false));
    assert.ok(tree.acquire(cidr("10.0.0.0/8"), false));
    assert.equal(tree.acquire(cidr("10.6.0.0/16"), true), false);
    assert.equal(any(30), undefined);
  });

  it("gives a shared network back with the last of its holders", () => {
    const shared = cidr("10.4.0.0/14");
    tree.acquire(shared, false);
    tree.acquire(shared, false);
    assert.equal(tree.isAvailable(shared), false);
    tree.release(shared);
    assert.equal(tree.isAvailable(shared), false);
    tree.release(shared);
    assert.equal(tree.isAvailable(shared), true);
    tree.release(shared);
    assert.ok(tree.acquire(shared, true));
    tree.release(shared);
    assert.ok(tree.acquire(cidr("10.0.0.0/8"), true));
  });

  it("knows what is available", () => {
    tree.acquire(cidr("10.4.0.0/16"), true);
    tree.acquire(cidr("10.64.0.0/12"), false);
    const available = {
      "10.4.0.0/16": false,
      "10.4.1.0/24": false,
      "10.0.0.0/12": false,
      "10.5.0.0/16": true,
    };
    for (const [text, expected] of Object.entries({
      ...available,
      "10.66.0.0/16": false,
      "10.80.0.0/12": true,
    })) {
      assert.equal(tree.isAvailable(cidr(text)), expected, text);
    }
  });

  it("packs next to what is held", () => {
    tree.acquire(cidr("10.200.0.0/16"), true);
    assert.equal(any(16), "10.201.0.0/16");
    assert.equal(any(16), "10.202.0.0/16");
    assert.equal(any(9), "10.0.0.0/9");
    assert.equal(any(9), undefined);
    assert.equal(any(7), undefined);
  });

  it("gives single addresses, and the whole pool", () => {
    const small = new PrefixTree(cidr("10.0.0.0/31"));
    assert.deepEqual(
      [small.acquireAny(32), small.acquireAny(32)].map((found) => found && formatCidr(found)),
      ["10.0.0.0/32", "10.0.0.1/32"],
    );
    assert.equal(small.acquireAny(32), undefined);
    assert.equal(any(8), "10.0.0.0/8");
    assert.equal(any(32), undefined);
  });

  it("forgets what was given back: nothing, and the other half, are as before", () => {
    tree.acquire(cidr("10.200.0.0/16"), true);
    tree.acquire(cidr("10.1.0.0/16"), true);
    tree.release(cidr("10.1.0.0/16"));
    tree.release(cidr("10.1.0.0/16"));
    tree.release(cidr("10.9.0.0/24"));
    assert.equal(any(16), "10.201.0.0/16");
  });
});
