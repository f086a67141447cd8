import assert from "node:assert/strict";

import {
  holderOfRemote,
  isSettled,
  type Mappings,
  RefusedMappings,
} from "../../../runtime/offloading/namespace-map-decision";

const REMOTE = "shop-rome";
const mappings = (desired: string[], before: Record<string, string> = {}): Mappings => ({
  desired: Object.fromEntries(desired.map((local) => [local, REMOTE])),
  before: Object.fromEntries(
    Object.entries(before).map(([local, phase]) => [local, { remoteNamespace: REMOTE, phase }]),
  ),
});

describe("a remote namespace that entries of one map share", () => {
  const rows: [
    title: string,
    mappings: Mappings,
    madeFor: string | undefined,
    holder: string | undefined,
    settled: boolean,
  ][] = [
    ["is nobody's without an entry", mappings([]), "shop", undefined, false],
    ["is that of the only one", mappings(["shop"]), "shop", "shop", true],
    ["is that of whom it was made for", mappings(["b", "shop"], { b: "Accepted" }), "shop", "shop", true],
    ["is that of who has it", mappings(["b", "shop"], { shop: "Accepted" }), undefined, "shop", true],
    [
      "stays with who has it where it names somebody unknown",
      mappings(["b", "shop"], { shop: "Accepted" }),
      "stray",
      "shop",
      true,
    ],
    ["is that of the first by name", mappings(["shop", "b"]), undefined, "b", true],
    ["goes before the next takes it", mappings(["b"], { shop: "Accepted" }), "shop", "b", false],
    ["goes where both had it", mappings(["b"], { shop: "Accepted", b: "Accepted" }), "shop", "b", false],
    ["goes on going", mappings(["b"], { shop: "Terminating", b: "CreationLoopBackOff" }), "shop", "b", false],
    ["goes where nothing tells of whom it was made for", mappings(["b"]), "shop", "b", false],
    ["stays when the one that was refused goes", mappings(["shop"], { b: "Accepted" }), "shop", "shop", true],
  ];
  for (const [title, given, madeFor, holder, settled] of rows) {
    it(title, () => {
      assert.equal(holderOfRemote(REMOTE, given, madeFor), holder);
      assert.equal(isSettled(REMOTE, given, madeFor), settled);
    });
  }

  it("is found at once in a map of tens of thousands of entries", () => {
    const desired = Object.fromEntries(
      Array.from({ length: 30_000 }, (_, at) => [`local-${at}`, `remote-${at}`]),
    );
    const many = { desired, before: {} };
    const start = performance.now();
    for (const [local, remote] of Object.entries(desired))
      assert.equal(holderOfRemote(remote, many, undefined), local);
    // Looking through all of them for each took ten minutes, in which the controllers did nothing else.
    assert.ok(performance.now() - start < 20_000);
  });
});

describe("refused mappings", () => {
  const MAP = "guests-from-rome/rome";
  const taken = { local: "shop", remote: "shop-rome", message: "shop-rome is of somebody else" };
  const other = { ...taken, message: "shop-rome was made for cellar" };
  const waiting = { shop: { remoteNamespace: "shop-rome", phase: "CreationLoopBackOff" } };

  it("are told when they begin, and not again", () => {
    const refused = new RefusedMappings();
    assert.deepEqual(refused.fresh(MAP, [taken], {}), [taken]);
    assert.deepEqual(refused.fresh(MAP, [taken], waiting), []);
    assert.deepEqual(refused.fresh(MAP, [taken], waiting), []);
  });

  it("are told again for another cause, and when they begin anew", () => {
    const refused = new RefusedMappings();
    refused.fresh(MAP, [taken], {});
    assert.deepEqual(refused.fresh(MAP, [other], waiting), [other]);
    assert.deepEqual(refused.fresh(MAP, [], waiting), []);
    assert.deepEqual(refused.fresh(MAP, [taken], {}), [taken]);
  });

  it("are told after a failure of another kind", () => {
    const refused = new RefusedMappings();
    refused.fresh(MAP, [], {});
    assert.deepEqual(refused.fresh(MAP, [taken], waiting), [taken]);
  });

  it("are not told by a process that finds them in the status, unless the name is another", () => {
    assert.deepEqual(new RefusedMappings().fresh(MAP, [taken], waiting), []);
    const renamed = { ...taken, remote: "boutique" };
    assert.deepEqual(new RefusedMappings().fresh(MAP, [renamed], waiting), [renamed]);
    const accepted = { shop: { remoteNamespace: "shop-rome", phase: "Accepted" } };
    assert.deepEqual(new RefusedMappings().fresh(MAP, [taken], accepted), [taken]);
  });

  it("of one map are not those of another, and are forgotten with it", () => {
    const refused = new RefusedMappings();
    refused.fresh(MAP, [taken], {});
    assert.deepEqual(refused.fresh("guests-from-turin/turin", [taken], {}), [taken]);
    refused.forget(MAP);
    assert.deepEqual(refused.fresh(MAP, [taken], {}), [taken]);
  });
});
