import assert from "node:assert/strict";
import { RestartDelay } from "../../../runtime/gateway/tunnel-interface";

/** Starts it as soon as it may be, and lets it live for each of these times; returns how long each start had to wait. */
function waits(lives: readonly number[]): number[] {
  const delay = new RestartDelay();
  let now = 1_000;
  return lives.map((life) => {
    const wait = delay.remaining(now);
    now += wait;
    assert.equal(delay.remaining(now), 0, "once the time is over it may be started");
    delay.started(now);
    now += life;
    return wait;
  });
}

describe("the delay before a tunnel is made again", () => {
  const cases: [string, number[], number[]][] = [
    [
      "grows while it ends at once",
      Array<number>(8).fill(20),
      [0, 500, 1000, 2000, 4000, 8000, 10000, 10000],
    ],
    ["is none after it lived long", [20, 20, 10_000, 20, 20], [0, 500, 1000, 0, 500]],
    ["goes on growing after it lived a little longer", [20, 9_999, 20], [0, 500, 1000]],
    ["is none for what always lives long", [60_000, 60_000, 60_000], [0, 0, 0]],
  ];
  for (const [what, lives, expected] of cases) {
    it(what, () => assert.deepEqual(waits(lives), expected));
  }

  it("is counted from the end, however often it is asked for", () => {
    const delay = new RestartDelay();
    delay.started(0);
    assert.equal(delay.remaining(100), 500);
    assert.equal(delay.remaining(350), 250);
    assert.equal(delay.remaining(700), 0);
    assert.equal(delay.earlyEnds, 1);
  });
});
