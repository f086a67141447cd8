import assert from "node:assert/strict";

import { amountFaults } from "../../../runtime/api/quantity";

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
