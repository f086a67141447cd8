import assert from "node:assert/strict";

import { JobPool, type Need, startable } from "../../runner/budget";

const BUDGET = { cores: 2, memoryMb: 8_000 };
const small: Need = { cores: 0.66, memoryMb: 2_000 };
const large: Need = { cores: 1.5, memoryMb: 2_000 };
const greedy: Need = { cores: 0.1, memoryMb: 7_000 };
const alone: Need = { cores: 2, memoryMb: 4_000, alone: true };
const oversized: Need = { cores: 3, memoryMb: 4_000 };

describe("the jobs that may start", () => {
  const cases: [string, readonly Need[], readonly Need[], readonly number[]][] = [
    ["nothing waits", [], [small], []],
    ["all fit", [small, small, small], [], [0, 1, 2]],
    ["the processors are taken", [small], [small, small, small], []],
    ["a smaller one passes one that does not fit", [large, small], [small, small], [1]],
    ["the memory is taken", [greedy, small], [small], [1]],
    ["one that is to be alone waits for those that run", [alone], [small], []],
    ["one that is to be alone lets all others go first", [alone, small], [], [1]],
    ["one that is to be alone starts when nothing else waits or runs", [alone, alone], [], [0]],
    ["nothing starts beside one that is alone", [small], [alone], []],
    ["one larger than the budget runs by itself", [oversized, small], [], [0]],
    ["one larger than the budget waits for those that run", [oversized], [small], []],
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
    pool.add([job("last", alone)]);
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
