import assert from "node:assert/strict";

import { processorsForTunnel } from "../../../runtime/gateway/wireguard-go";

describe("the processors of wireguard-go", () => {
  const cases: [number, string, number, string][] = [
    [1, "max 100000", 1, "the only one"],
    [2, "max 100000\n", 1, "half of two"],
    [3, "max", 1, "half, rounded down"],
    [16, "max 100000", 8, "half of many"],
    [16, "150000 100000", 2, "a limit of one and a half"],
    [16, "50000 100000", 1, "a limit below one"],
    [4, "1600000 100000", 2, "a limit above what there is"],
    [8, "", 4, "a file without a word"],
    [8, "0 100000", 4, "a limit that is none"],
  ];
  for (const [processors, limit, expected, what] of cases) {
    it(`are ${expected} of ${processors} with "${limit.trim()}": ${what}`, () => {
      assert.equal(processorsForTunnel(processors, limit), expected);
    });
  }
});
