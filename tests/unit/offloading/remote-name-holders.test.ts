import assert from "node:assert/strict";

import { holderOfRemote, isSettled, type Mappings } from "../../../runtime/offloading/remote-name-holders";

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
