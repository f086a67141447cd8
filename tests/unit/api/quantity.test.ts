import assert from "node:assert/strict";

import fc from "fast-check";

import {
  addAmounts,
  amountFaults,
  amountsOf,
  formatQuantity,
  greatestAmounts,
  isQuantity,
  parseQuantity,
  subtractAmounts,
} from "../../../runtime/api/quantity";

describe("quantities", () => {
  const table: [value: string | number, nano: bigint][] = [
    ["0", 0n],
    ["1", 1_000_000_000n],
    [2, 2_000_000_000n],
    [0.5, 500_000_000n],
    ["250m", 250_000_000n],
    ["1500u", 1_500_000n],
    ["7n", 7n],
    ["1.5", 1_500_000_000n],
    [".5", 500_000_000n],
    ["5.", 5_000_000_000n],
    ["-3", -3_000_000_000n],
    ["+3", 3_000_000_000n],
    ["1k", 1_000_000_000_000n],
    ["1Ki", 1_024_000_000_000n],
    ["1.5Gi", 1_610_612_736_000_000_000n],
    ["1e3", 1_000_000_000_000n],
    ["1E3", 1_000_000_000_000n],
    ["1E", 10n ** 27n],
    ["12e-3", 12_000_000n],
    // Finer than a billionth: up, so that nothing is ever free.
    ["0.1n", 1n],
    ["1e-20", 1n],
    ["-0.1n", -1n],
    // Beyond what the API server holds: its greatest.
    ["9E", 9n * 10n ** 27n],
    ["10E", (2n ** 63n - 1n) * 10n ** 9n],
    ["1e100", (2n ** 63n - 1n) * 10n ** 9n],
    ["1e999999999", (2n ** 63n - 1n) * 10n ** 9n],
    ["1e-999999999", 1n],
    ["0e999999999", 0n],
  ];
  for (const [value, nano] of table) {
    it(`reads ${JSON.stringify(value)}`, () => assert.equal(parseQuantity(value), nano));
  }

  for (const text of [
    "",
    "a",
    "1KI",
    "1ki",
    "1 Gi",
    "1e",
    "--1",
    "1.2.3",
    "0x10",
    "1Mm",
    "Infinity",
    "NaN",
    "9".repeat(200),
  ]) {
    it(`refuses ${JSON.stringify(text.slice(0, 20))}`, () => {
      assert.throws(() => parseQuantity(text), /is not a quantity/);
      assert.equal(isQuantity(text), false);
    });
  }

  const shown: [text: string, style: "decimal" | "binary", expected: string][] = [
    ["0", "binary", "0"],
    ["1024Mi", "binary", "1Gi"],
    ["1536Mi", "binary", "1536Mi"],
    ["1000", "binary", "1000"],
    ["500m", "binary", "500m"],
    ["1500m", "decimal", "1500m"],
    ["4000m", "decimal", "4"],
    ["8Gi", "decimal", "8589934592"],
    ["12000", "decimal", "12k"],
    ["-2Gi", "binary", "-2Gi"],
  ];
  for (const [text, style, expected] of shown) {
    it(`shows ${text} as ${expected}`, () =>
      assert.equal(formatQuantity(parseQuantity(text), style), expected));
  }

  it("shows every amount in a form that reads back as the same", () => {
    const amount = fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n });
    fc.assert(
      fc.property(amount, fc.constantFrom("decimal" as const, "binary" as const), (nano, style) => {
        assert.equal(parseQuantity(formatQuantity(nano, style)), nano);
      }),
    );
  });

  it("neither hangs nor fails on any text, other than by saying that it is no quantity", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        if (isQuantity(text)) assert.equal(typeof parseQuantity(text), "bigint");
        else assert.throws(() => parseQuantity(text), /is not a quantity/);
      }),
      { numRuns: 2000 },
    );
  });

  it("gives back what it took, exactly", () => {
    const amounts = fc.dictionary(
      fc.constantFrom("cpu", "memory", "pods"),
      fc.bigInt({ min: 0n, max: 10n ** 20n }),
    );
    fc.assert(
      fc.property(fc.array(amounts), (lists) => {
        const sum = new Map<string, bigint>();
        for (const list of lists) addAmounts(sum, new Map(Object.entries(list)));
        for (const list of lists) subtractAmounts(sum, new Map(Object.entries(list)));
        assert.deepEqual(
          [...sum.values()].filter((rest) => rest !== 0n),
          [],
        );
      }),
    );
  });

  it("takes the greater of each resource", () => {
    const a = amountsOf({ cpu: "1", memory: "2Gi" });
    const b = amountsOf({ cpu: "1500m", "nvidia.com/gpu": 1 });
    assert.deepEqual(greatestAmounts(a, b), amountsOf({ cpu: "1.5", memory: "2Gi", "nvidia.com/gpu": "1" }));
  });

  it("names the resource whose quantity it can't read", () => {
    assert.throws(() => amountsOf({ memory: "lots" }), /memory: "lots" is not a quantity/);
  });
});

describe("amounts of a node", () => {
  it("may be any that a node can have", () => {
    const resources = {
      cpu: "1500m",
      memory: "1.5Gi",
      pods: 110,
      "ephemeral-storage": "20Gi",
      "example.com/gpu": "2",
      "hugepages-2Mi": "64Mi",
      storage: 0,
    };
    assert.deepEqual(amountFaults(resources), []);
    assert.deepEqual(amountFaults({ pods: "1k", cpu: "+2" }), []);
  });

  for (const [name, amount, fault] of [
    ["cpu", "-1", 'cpu: "-1" is negative; give an amount of zero or more'],
    ["memory", "1 GB", 'memory: "1 GB" is not a quantity; give a number'],
    ["pods", "1.5", 'pods: "1.5" is not a whole number; it is counted, so give one'],
    ["example.com/gpu", "500m", 'example.com/gpu: "500m" is not a whole number'],
    ["Bad Name!", 1, '"Bad Name!" is no name of a resource; write it as in cpu or example.com/gpu'],
    ["a/b/c", 1, '"a/b/c" is no name of a resource'],
    ["cpu", "9E", 'cpu: "9E" is more than schedulers can count; give less than 9223372036854775'],
    ["cpu", "1e99", 'cpu: "1e99" is more than an API server can hold; give less than'],
    ["cpu", null, "cpu: null is not a quantity"],
  ] as const)
    it(`are not ${JSON.stringify(amount)} of ${name}`, () => {
      const [found = "", ...more] = amountFaults({
        [name]: amount,
        memory: name === "memory" ? amount : "1Gi",
      });
      assert.ok(found.startsWith(fault), found);
      assert.deepEqual(more, []);
    });
});
