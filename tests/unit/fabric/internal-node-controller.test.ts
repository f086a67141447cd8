import assert from "node:assert/strict";
import { nodeAddresses, type SeenGateway } from "../../../runtime/fabric/internal-node-controller";

const here = (source?: string): SeenGateway => ({ isOnThisNode: true, source });
const there = (source?: string): SeenGateway => ({ isOnThisNode: false, source });

describe("the addresses that gateways see a node by", () => {
  const cases: [string, SeenGateway[], Parameters<typeof nodeAddresses>[1], object][] = [
    ["are not known without a gateway", [], undefined, {}],
    [
      "are those that the kernel chooses",
      [here("10.243.1.1"), there("172.18.0.2")],
      undefined,
      { local: "10.243.1.1", remote: "172.18.0.2" },
    ],
    ["are not known where there is no way", [there()], undefined, {}],
    [
      "stay while there is nobody to ask",
      [there("172.18.0.2")],
      { local: "10.243.1.1" },
      { local: "10.243.1.1", remote: "172.18.0.2" },
    ],
    [
      "change with the kernel's choice",
      [there("172.18.0.9")],
      { remote: "172.18.0.2" },
      { remote: "172.18.0.9" },
    ],
    [
      "do not go back and forth between two gateways",
      [there("172.18.0.2"), there("10.0.0.2")],
      { remote: "172.18.0.2" },
      { remote: "172.18.0.2" },
    ],
  ];
  for (const [what, gateways, present, expected] of cases) {
    it(what, () => assert.deepEqual(nodeAddresses(gateways, present), expected));
  }
});
