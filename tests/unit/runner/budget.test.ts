import assert from "node:assert/strict";

import { JobPool, type Need, startable } from "../../runner/budget";

const BUDGET = { cores: 2, memoryMb: 8_000 };
const small: Need = { cores: 0.66, memoryMb: 2_000 };
const large: Need = { cores: 1.34, memoryMb: 2_000 };
const greedy: Need = { cores: 0.1, memoryMb: 5_000 };
const oversized: Need = { cores: 3, memoryMb: 4_000 };

describe("the jobs that may start", () => {
  const cases: [string, readonly Need[], readonly Need[], readonly number[]][] = [
    ["nothing waits", [], [small], []],
    ["all fit", [small, small, small], [], [0, 1, 2]],
    ["the processors are taken", [small], [small, small, small], []],
    ["the memory is taken", [greedy, small], [greedy], [1]],
    ["a large one and a small one go together", [large, small, small], [], [0, 1]],
    ["a small one passes a large one that waits for another large one", [large, small], [large], [1]],
    ["room is kept for a large one that waits for small ones", [large, small], [small, small], []],
    ["a large one that starts leaves no room for two", [large, small, small], [small], [0]],
    ["one larger than the budget runs by itself", [oversized, small], [], [0]],
    ["one larger than the budget lets small ones pass while another runs", [oversized, small], [small], [1]],
    ["nothing starts beside one larger than the budget", [small], [oversized], []],
  ];
  for (const [title, waiting, running, expected] of cases) {
    it(title, () => assert.deepEqual(startable(waiting, running, BUDGET), expected));
  }
});

describe("a pool of jobs", () => {
  it("keeps to its budget, and runs what is added while others run", async () => {
    const pool = new JobPool({ cores: 2, memoryMb: 8_000 });
    const events: string[] = [];
    const ends = new Map<string, () => void>();
    const job = (name: string, need: Need) => ({
      name,
      need,
      run: () =>
        new Promise<void>((resolve) => {
          events.push(`${name} starts`);
          ends.set(name, () => {
            events.push(`${name} ends`);
            resolve();
          });
        }),
    });
    const turn = () => new Promise((resolve) => setImmediate(resolve));

    pool.add([job("one", large), job("two", large)]);
    pool.add([job("last", oversized)]);
    const idle = pool.whenIdle();
    assert.deepEqual(events, ["one starts"]);
    ends.get("one")?.();
    await turn();
    ends.get("two")?.();
    await turn();
    ends.get("last")?.();
    await idle;
    assert.deepEqual(events, [
      "one starts",
      "one ends",
      "two starts",
      "two ends",
      "last starts",
      "last ends",
    ]);
  });

  it("tells of a job that throws", async () => {
    const pool = new JobPool(BUDGET);
    pool.add([{ name: "broken", need: small, run: () => Promise.reject(new Error("no such program")) }]);
    await assert.rejects(pool.whenIdle(), /no such program/);
  });
});
