import assert from "node:assert/strict";

import { formatCidr, parseCidr } from "../../../runtime/ipam/cidr";
import { DEFAULT_POOLS, parsePools, unusableReason } from "../../../runtime/ipam/pools";

describe("pools", () => {
  it("keep their order", () => {
    assert.deepEqual(parsePools(DEFAULT_POOLS).map(formatCidr), DEFAULT_POOLS);
    assert.deepEqual(parsePools(["172.20.0.0/14", "10.128.0.0/9"]).map(formatCidr), [
      "172.20.0.0/14",
      "10.128.0.0/9",
    ]);
  });

  const refused: [string[], string][] = [
    [
      ["10.0.0.0/8", "10.64.0.0/10"],
      "pools 10.0.0.0/8 and 10.64.0.0/10 overlap; keep one of them, or make them disjoint",
    ],
    [
      ["10.64.0.0/10", "192.168.0.0/16", "10.0.0.0/8"],
      "pools 10.64.0.0/10 and 10.0.0.0/8 overlap; keep one of them, or make them disjoint",
    ],
    [["10.1.0.0/8"], "pool 10.1.0.0/8 has bits beyond its prefix; write 10.0.0.0/8"],
    [["10.0.0.0"], '"10.0.0.0" is not a CIDR; write an address and a prefix length, as in 10.70.0.0/16'],
    [["fd00::/8"], '"fd00::/8" is an IPv6 network; the networks between clusters carry IPv4 only'],
    [
      ["169.254.0.0/16"],
      "pool 169.254.0.0/16 overlaps 169.254.0.0/16 (link-local addresses, among them those of the tunnels); choose a private range",
    ],
    [[], "there are no pools; give at least one, such as 10.0.0.0/8"],
  ];
  for (const [pools, message] of refused) {
    it(`refuse ${pools.join(", ") || "none"}`, () => assert.throws(() => parsePools(pools), { message }));
  }
});

describe("special ranges", () => {
  const cases: [string, RegExp | undefined][] = [
    ["10.70.0.0/16", undefined],
    ["100.64.0.0/10", undefined],
    ["223.255.255.0/24", undefined],
    ["0.0.0.0/0", /overlaps 0\.0\.0\.0\/8 \(unspecified/],
    ["127.3.0.0/16", /127\.3\.0\.0\/16 overlaps 127\.0\.0\.0\/8 \(loopback/],
    ["169.254.18.0/30", /link-local/],
    ["224.0.0.0/3", /multicast/],
    ["239.1.0.0/16", /multicast/],
    ["255.255.255.255/32", /reserved/],
  ];
  for (const [text, expected] of cases) {
    it(`${expected === undefined ? "take" : "refuse"} ${text}`, () => {
      const reason = unusableReason(parseCidr(text));
      if (expected === undefined) assert.equal(reason, undefined);
      else assert.match(reason ?? "", expected);
    });
  }
});
