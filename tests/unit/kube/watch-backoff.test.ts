import assert from "node:assert/strict";

import { type WatchEnd, type Next, WatchBackoff } from "../../../runtime/kube/cache/watch-backoff";

const lasting = { openMs: 300_000 };
const short = { openMs: 20 };

/** What the last of several ends of watches leads to; without jitter. */
function last(...ends: WatchEnd[]): Next {
  const backoff = new WatchBackoff(() => 0);
  let next: Next = { delayMs: 0 };
  for (const ending of ends) next = backoff.after(ending);
  return next;
}

function times(count: number, ending: WatchEnd): WatchEnd[] {
  return Array.from({ length: count }, () => ending);
}

describe("backoff of a watch", () => {
  const ended: WatchEnd = { how: "ended", ...short };
  const gone: WatchEnd = { how: "gone", ...short };
  const failed: WatchEnd = { how: "failed", openMs: 0 };
  const cases: [string, WatchEnd[], Next][] = [
    ["ended after it lasted", [{ how: "ended", ...lasting }], { delayMs: 0 }],
    ["ended at once", [ended], { delayMs: 200 }],
    ["ended at once twice", times(2, ended), { delayMs: 400, short: 2 }],
    ["ended at once ever again", times(20, ended), { delayMs: 30_000, short: 20 }],
    ["ended at once, then lasted", [...times(9, ended), { how: "ended", ...lasting }], { delayMs: 0 }],
    ["history gone after it lasted", [{ how: "gone", ...lasting }], { delayMs: 0 }],
    ["history gone when it was to be resumed", [{ how: "ended", ...lasting }, gone], { delayMs: 0 }],
    ["history gone twice", times(2, gone), { delayMs: 200, short: 2 }],
    ["history gone ever again", times(20, gone), { delayMs: 30_000, short: 20 }],
    ["ended and gone in turn", [ended, gone, ended, gone], { delayMs: 800, short: 4 }],
    ["refused", [failed], { delayMs: 800 }],
    ["refused for the third time", times(3, failed), { delayMs: 3_200 }],
    ["refused ever again", times(20, failed), { delayMs: 30_000 }],
    ["forbidden ever again", times(20, { ...failed, forbidden: true }), { delayMs: 5_000 }],
    ["asked to come back later", [{ ...failed, askedMs: 9_000 }], { delayMs: 9_000 }],
    ["asked to come back in a thousand years", [{ ...failed, askedMs: 3e13 }], { delayMs: 300_000 }],
    ["asked for less than nothing", [{ ...failed, askedMs: -9_000 }], { delayMs: 800 }],
    ["unreachable after many cuts", [...times(20, { how: "cut", openMs: 20 }), failed], { delayMs: 800 }],
    [
      "busy after it was unreachable for long",
      [...times(9, failed), { ...failed, answered: true }],
      { delayMs: 800 },
    ],
    [
      "busy ever again after it was unreachable",
      [...times(9, failed), ...times(20, { ...failed, answered: true })],
      { delayMs: 30_000 },
    ],
    ["garbage after each list", times(4, { ...failed, openMs: 20 }), { delayMs: 6_400 }],
  ];
  for (const [name, ends, next] of cases) it(name, () => assert.deepEqual(last(...ends), next));

  it("cut: goes on at a random moment, soon where it had something to tell", () => {
    const most = (count: number, told: boolean, random = 0.999) => {
      const backoff = new WatchBackoff(() => random);
      let next: Next = { delayMs: 0 };
      for (let i = 0; i < count; i++) {
        if (told) backoff.succeeded();
        next = backoff.after({ how: "cut", openMs: 20 });
      }
      return next;
    };
    assert.equal(most(9, false, 0).delayMs, 0);
    assert.ok(most(1, false).delayMs <= 100);
    const silent = most(20, false);
    assert.ok(silent.delayMs > 3_000 && silent.delayMs <= 5_000, String(silent.delayMs));
    const telling = most(20, true);
    assert.ok(telling.delayMs > 250 && telling.delayMs <= 400, String(telling.delayMs));
    assert.deepEqual([silent.short, telling.short], [20, 20]);
    assert.equal(most(5, true).short, undefined);
  });

  it("forgets failures with success, and watches that did not last with one that does", () => {
    const backoff = new WatchBackoff(() => 0);
    for (const ending of times(5, failed)) backoff.after(ending);
    backoff.succeeded();
    assert.equal(backoff.after(failed).delayMs, 800);
    for (const ending of times(5, ended)) backoff.after(ending);
    backoff.succeeded();
    assert.equal(backoff.flapping, true);
    assert.equal(backoff.after(ended).delayMs, 6_400);
    backoff.lasted();
    assert.equal(backoff.flapping, false);
    assert.equal(backoff.after(ended).delayMs, 200);
  });
});
