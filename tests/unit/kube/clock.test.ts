import assert from "node:assert/strict";

import fc from "fast-check";

import { backoffMs } from "../../../runtime/kube/clock";

describe("back-off", () => {
  it("doubles from the first to the longest delay", () => {
    const delays = [1, 2, 3, 4, 7, 100].map((failures) =>
      backoffMs(failures, { firstMs: 800, maxMs: 30_000, random: () => 0 }),
    );
    assert.deepEqual(delays, [800, 1_600, 3_200, 6_400, 30_000, 30_000]);
  });

  it("stays within its bounds whatever chance says, and spreads what failed together", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (failures, chance) => {
          const delay = backoffMs(failures, { firstMs: 800, maxMs: 30_000, random: () => chance });
          assert.ok(delay >= 800 && delay <= 30_000);
        },
      ),
    );
    const late = Array.from({ length: 100 }, () => backoffMs(20, { firstMs: 800, maxMs: 30_000 }));
    assert.ok(Math.max(...late) - Math.min(...late) > 3_000);
  });
});
