import assert from "node:assert/strict";

import fc from "fast-check";

import {
  type Cidr,
  containsAddress,
  containsCidr,
  formatAddress,
  formatCidr,
  halves,
  lastAddress,
  networkOf,
  overlaps,
  parseAddress,
  parseCidr,
  remapAddress,
  sameCidr,
  sizeOf,
} from "../../../runtime/ipam/cidr";

/** The same arithmetic on strings of bits, slow and plain. */
const bitsOf = (address: number) => address.toString(2).padStart(32, "0");
const prefixOf = ({ address, length }: Cidr) => bitsOf(address).slice(0, length);

const addresses = fc.integer({ min: 0, max: 0xffffffff });
const lengths = fc.integer({ min: 0, max: 32 });
const cidrs = fc.tuple(addresses, lengths).map(([address, length]) => networkOf(address, length));
/** Pairs that overlap more often than chance would have it. */
const pairs = fc
  .tuple(cidrs, lengths, fc.boolean())
  .chain(([a, length, near]) =>
    near ? fc.constant([a, networkOf(a.address, length)] as const) : cidrs.map((b) => [a, b] as const),
  );

describe("addresses", () => {
  it("are written back as they were read", () => {
    for (const text of ["0.0.0.0", "10.70.0.1", "172.16.254.3", "255.255.255.255", "128.0.0.1"]) {
      assert.equal(formatAddress(parseAddress(text)), text);
    }
    assert.equal(parseAddress("128.0.0.1"), 0x80000001);
  });

  it("hold every number", () => {
    fc.assert(fc.property(addresses, (address) => parseAddress(formatAddress(address)) === address));
  });

  const refused: [string, RegExp][] = [
    ["10.0.0", /"10\.0\.0" is not an IPv4 address; write four numbers, as in 10\.70\.0\.1/],
    ["10.0.0.256", /is not an IPv4 address/],
    ["010.0.0.1", /is not an IPv4 address/],
    ["", /"" is not an IPv4 address/],
    ["fd00::1", /"fd00::1" is an IPv6 address; .* IPv4 only/],
  ];
  for (const [text, message] of refused) {
    it(`refuse "${text}"`, () => assert.throws(() => parseAddress(text), { message }));
  }
});

describe("networks", () => {
  const read: [string, string][] = [
    ["10.70.0.0/16", "10.70.0.0/16"],
    ["10.70.3.4/16", "10.70.0.0/16"],
    ["255.255.255.255/1", "128.0.0.0/1"],
    ["9.8.7.6/0", "0.0.0.0/0"],
    ["172.18.75.9/32", "172.18.75.9/32"],
    ["78.5.78.143/18", "78.5.64.0/18"],
  ];
  for (const [text, expected] of read) {
    it(`read ${text} as ${expected}`, () => assert.equal(formatCidr(parseCidr(text)), expected));
  }

  const refused: [string, RegExp][] = [
    [
      "10.70.0.0",
      /"10\.70\.0\.0" is not a CIDR; write an address and a prefix length, as in 10\.70\.0\.0\/16/,
    ],
    ["10.70.0.0/33", /is not a CIDR/],
    ["10.70.0.0/016", /is not a CIDR/],
    ["10.70.0.0/", /is not a CIDR/],
    ["10.70.0.0/16/8", /is not a CIDR/],
    ["10.70.0.0/-1", /is not a CIDR/],
    ["10.70/16", /is not a CIDR/],
    ["/16", /is not a CIDR/],
    ["", /is not a CIDR/],
    ["fd00::/64", /"fd00::\/64" is an IPv6 network; .* IPv4 only/],
  ];
  for (const [text, message] of refused) {
    it(`refuse "${text}"`, () => assert.throws(() => parseCidr(text), { message }));
  }

  it("are cut as bit strings are", () => {
    fc.assert(
      fc.property(addresses, lengths, (address, length) => {
        const network = networkOf(address, length);
        assert.equal(bitsOf(network.address), bitsOf(address).slice(0, length).padEnd(32, "0"));
        assert.equal(bitsOf(lastAddress(network)), bitsOf(address).slice(0, length).padEnd(32, "1"));
        assert.equal(sizeOf(network), lastAddress(network) - network.address + 1);
        assert.ok(sameCidr(parseCidr(formatCidr(network)), network));
      }),
    );
  });

  it("contain and overlap as their prefixes do", () => {
    fc.assert(
      fc.property(pairs, addresses, ([a, b], address) => {
        assert.equal(containsCidr(a, b), prefixOf(b).startsWith(prefixOf(a)));
        assert.equal(
          overlaps(a, b),
          prefixOf(a).startsWith(prefixOf(b)) || prefixOf(b).startsWith(prefixOf(a)),
        );
        assert.equal(sameCidr(a, b), prefixOf(a) === prefixOf(b));
        assert.equal(containsAddress(a, address), bitsOf(address).startsWith(prefixOf(a)));
      }),
    );
  });

  it("fall into two halves", () => {
    fc.assert(
      fc.property(
        cidrs.filter(({ length }) => length < 32),
        (cidr) => {
          const [left, right] = halves(cidr);
          assert.deepEqual([prefixOf(left), prefixOf(right)], [`${prefixOf(cidr)}0`, `${prefixOf(cidr)}1`]);
          assert.deepEqual([left.address, lastAddress(right)], [cidr.address, lastAddress(cidr)]);
        },
      ),
    );
  });
});

describe("addresses in another network", () => {
  // networking reference 21.2, offloading reference 23
  const mapped: [string, string, string][] = [
    ["10.243.1.20", "10.71.0.0/16", "10.71.1.20"],
    ["10.200.91.9", "172.18.64.0/20", "172.18.75.9"],
    ["10.1.0.1", "40.32.0.0/10", "40.1.0.1"],
    ["10.255.1.1", "78.5.78.143/18", "78.5.65.1"],
    ["10.244.3.17", "10.71.0.0/16", "10.71.3.17"],
    ["10.1.2.3", "0.0.0.0/0", "10.1.2.3"],
    ["10.1.2.3", "192.168.7.7/32", "192.168.7.7"],
  ];
  for (const [address, into, expected] of mapped) {
    it(`map ${address} into ${into} as ${expected}`, () =>
      assert.equal(formatAddress(remapAddress(parseAddress(address), parseCidr(into))), expected));
  }

  it("take the prefix of the network and keep the rest", () => {
    fc.assert(
      fc.property(addresses, cidrs, (address, into) => {
        const bits = bitsOf(remapAddress(address, into));
        assert.equal(bits, prefixOf(into) + bitsOf(address).slice(into.length));
      }),
    );
  });
});
