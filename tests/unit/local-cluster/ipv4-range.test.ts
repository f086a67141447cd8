import assert from "node:assert/strict";

import fc from "fast-check";

import {
  addressAt,
  formatAddress,
  formatRange,
  overlaps,
  parseRange,
  sizeOf,
  subrange,
} from "../../../provider/local-cluster/ipv4-range";

const range = fc
  .tuple(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.integer({ min: 1, max: 32 }))
  .map(([address, prefix]) => ({ base: address - (address % 2 ** (32 - prefix)), prefix }));

describe("IPv4 ranges", () => {
  it("are read as they are written", () => {
    fc.assert(fc.property(range, (value) => assert.deepEqual(parseRange(formatRange(value)), value)));
  });

  for (const [text, reason] of [
    ["10.0.0.0", /is not an IPv4 range/],
    ["10.0.0.256/24", /is not an IPv4 range/],
    ["10.0.0.0/33", /is not an IPv4 range/],
    ["fd00::/64", /is not an IPv4 range/],
    ["10.1.2.3/16", /the range is 10\.1\.0\.0\/16/],
  ] as const) {
    it(`refuses ${text}`, () => assert.throws(() => parseRange(text), reason));
  }

  it("overlap exactly when they share an address", () => {
    fc.assert(
      fc.property(range, range, (one, other) => {
        const [wide, narrow] = one.prefix <= other.prefix ? [one, other] : [other, one];
        const shared = narrow.base >= wide.base && narrow.base < wide.base + sizeOf(wide);
        assert.equal(overlaps(one, other), shared);
        assert.equal(overlaps(other, one), shared);
      }),
    );
  });

  it("divide into ranges that lie inside and apart", () => {
    const whole = parseRange("10.64.0.0/16");
    const parts = [0, 1, 255].map((index) => subrange(whole, 24, index));
    assert.deepEqual(parts.map(formatRange), ["10.64.0.0/24", "10.64.1.0/24", "10.64.255.0/24"]);
    assert.throws(() => subrange(whole, 24, 256), /10\.64\.0\.0\/16 has no range number 256/);
    assert.throws(() => subrange(whole, 15, 0), /size \/15/);
  });

  it("count their addresses", () => {
    assert.equal(addressAt(parseRange("10.64.255.0/24"), 255), "10.64.255.255");
    assert.throws(() => addressAt(parseRange("10.64.255.0/24"), 256), /no address number 256/);
    assert.equal(formatAddress(2 ** 32 - 1), "255.255.255.255");
  });
});
