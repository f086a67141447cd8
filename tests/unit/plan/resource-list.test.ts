import assert from "node:assert/strict";

import { resourceListSchema } from "../../../runtime/plan/arguments";

describe("amounts of resources", () => {
  it("are taken as text or number", () => {
    assert.deepEqual(resourceListSchema.parse({ cpu: 8, memory: "16Gi" }), { cpu: "8", memory: "16Gi" });
  });

  for (const [value, fault] of [
    ["-1", "is negative; give an amount of zero or more"],
    [-2, "is negative; give an amount of zero or more"],
    ["-", "is not a quantity; give a number with an optional suffix, such as 500m, 2 or 1.5Gi"],
    ["8 cores", "is not a quantity; give a number with an optional suffix, such as 500m, 2 or 1.5Gi"],
  ] as const) {
    it(`refuse ${JSON.stringify(value)}`, () => {
      const issues = resourceListSchema.safeParse({ cpu: value }).error?.issues ?? [];
      assert.deepEqual(
        issues.map(({ message }) => message),
        [fault],
      );
    });
  }
});
