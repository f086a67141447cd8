import assert from "node:assert/strict";
import fc from "fast-check";

import { ipTranslation } from "../../../runtime/virtual-kubelet/peer/peer-network";

describe("ipTranslation", () => {
  const cases: [what: string, original: string, remapped: string, ip: string, expected: string][] = [
    ["keeps the host bits", "10.244.0.0/16", "10.71.0.0/16", "10.244.3.17", "10.71.3.17"],
    ["masks a network given by an address in it", "10.0.0.0/8", "40.32.0.0/10", "10.1.0.1", "40.1.0.1"],
    ["cuts inside a byte", "10.255.0.0/16", "78.5.78.143/18", "10.255.1.1", "78.5.65.1"],
    ["leaves a range that was not remapped", "10.244.0.0/16", "10.244.0.0/16", "10.244.3.17", "10.244.3.17"],
    ["leaves an address of no range", "10.244.0.0/16", "10.71.0.0/16", "192.168.1.1", "192.168.1.1"],
    ["leaves the other family", "10.244.0.0/16", "10.71.0.0/16", "fd00::1", "fd00::1"],
    ["leaves what is no address", "10.244.0.0/16", "10.71.0.0/16", "not-an-address", "not-an-address"],
    ["translates IPv6", "fd00:10::/64", "fd00:71::/64", "fd00:10::3:17", "fd00:71::3:17"],
  ];
  for (const [what, original, remapped, ip, expected] of cases) {
    it(what, () => assert.equal(ipTranslation([{ original, remapped }])(ip), expected));
  }

  it("takes the first range that holds the address", () => {
    const translate = ipTranslation([
      { original: "10.60.0.0/16", remapped: "10.61.0.0/16" },
      { original: "10.0.0.0/8", remapped: "11.0.0.0/8" },
    ]);
    assert.equal(translate("10.60.1.2"), "10.61.1.2");
    assert.equal(translate("10.70.1.2"), "11.70.1.2");
  });

  it("leaves every address alone without ranges", () =>
    assert.equal(ipTranslation([])("10.0.0.1"), "10.0.0.1"));

  it("names a range that is none", () => {
    assert.throws(
      () => ipTranslation([{ original: "10.0.0.0", remapped: "11.0.0.0/8" }]),
      /"10\.0\.0\.0" is not a CIDR/,
    );
  });

  it("is undone by the reverse translation", () => {
    fc.assert(
      fc.property(fc.nat(255), fc.nat(255), fc.integer({ min: 8, max: 30 }), (third, fourth, bits) => {
        const there = ipTranslation([{ original: `10.1.0.0/${bits}`, remapped: `11.1.0.0/${bits}` }]);
        const back = ipTranslation([{ original: `11.1.0.0/${bits}`, remapped: `10.1.0.0/${bits}` }]);
        const ip = `10.1.${third}.${fourth}`;
        assert.equal(back(there(ip)), ip);
      }),
    );
  });
});
