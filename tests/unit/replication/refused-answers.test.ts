import assert from "node:assert/strict";

import { ResourceSlice } from "../../../runtime/api";
import { RefusedAnswers, waitBeforeTelling } from "../../../runtime/replication/refused-answers";

describe("how long a refusal waits to be told", () => {
  const rows: [
    string,
    since: number,
    told: { message: string; at: number } | undefined,
    now: number,
    number | undefined,
  ][] = [
    ["a moment at first: it may be over then", 1_000, undefined, 1_000, 3_000],
    ["what is left of that", 1_000, undefined, 3_000, 1_000],
    ["no longer", 1_000, undefined, 4_000, 0],
    ["for ever where it was told", 1_000, { message: "m", at: 4_000 }, 9_000_000, undefined],
    ["some minutes after another was told", 1_000, { message: "n", at: 4_000 }, 5_000, 599_000],
    ["no longer than some minutes after another", 1_000, { message: "n", at: 4_000 }, 604_000, 0],
  ];
  for (const [title, since, told, now, expected] of rows)
    it(title, () => assert.equal(waitBeforeTelling(since, told, "m", now), expected));
});

describe("a refused answer", () => {
  const source = {
    apiVersion: ResourceSlice.apiVersion,
    kind: ResourceSlice.kind,
    metadata: { name: "pool" },
    spec: {},
  };
  it("asks to be looked at again until it is told, and no more after it is right", () => {
    let now = 0;
    const refusals = new RefusedAnswers({
      remoteClusterId: "milan",
      events: undefined,
      monotonic: () => now,
    });
    const bad = { status: undefined, refused: ["resources: cpu: negative"] };
    assert.deepEqual(refusals.note("k", source, bad), { requeueAfterMs: 3_000 });
    assert.equal(refusals.note("k", source, { status: {}, refused: [] }), undefined);
    now = 10_000;
    assert.deepEqual(refusals.note("k", source, bad), { requeueAfterMs: 3_000 });
    now = 13_000;
    assert.equal(refusals.note("k", source, bad), undefined);
    const other = { status: undefined, refused: ["resources: cpu: too much"] };
    assert.deepEqual(refusals.note("k", source, other), { requeueAfterMs: 600_000 });
  });
});
