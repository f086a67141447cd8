import assert from "node:assert/strict";

import type { FirewallConfiguration, RouteConfiguration } from "../../../runtime/api";
import { firewallFaults, routeFaults, withRuleNames } from "../../../runtime/networking/admission";

const firewall = (name: string, table: string, labels?: Record<string, string>): FirewallConfiguration => ({
  apiVersion: "networking.liqo.io/v1beta1",
  kind: "FirewallConfiguration",
  metadata: { name, namespace: "liqo-tenant-milan", ...(labels && { labels }) },
  spec: { table: { name: table, family: "IPV4" } },
});
const route = (name: string, table: string, labels?: Record<string, string>): RouteConfiguration => ({
  apiVersion: "networking.liqo.io/v1beta1",
  kind: "RouteConfiguration",
  metadata: { name, namespace: "liqo-tenant-milan", ...(labels && { labels }) },
  spec: { table: { name: table, rules: [{ fwmark: 1, routes: [] }] } },
});

describe("admission of configurations", () => {
  it("takes tables of a name for different agents", () => {
    const others = [
      firewall("turin", "remap-podcidr", { unique: "turin" }),
      firewall("rome", "other", { unique: "milan" }),
    ];
    const milan = firewall("milan", "remap-podcidr", { unique: "milan" });
    assert.deepEqual(firewallFaults(milan, milan, [...others, milan]), []);
    assert.deepEqual(routeFaults(route("a", "a"), undefined, [route("b", "b")]), []);
  });

  it("refuses a second table of a name for the same agents", () => {
    assert.deepEqual(
      firewallFaults(firewall("b", "t", { a: "1" }), undefined, [firewall("a", "t", { a: "1" })]),
      ['spec.table.name "t" is that of liqo-tenant-milan/a, which has the same labels; choose another'],
    );
    assert.deepEqual(routeFaults(route("b", "t"), undefined, [route("a", "t", {})]), [
      'spec.table.name "t" is that of liqo-tenant-milan/a, which has the same labels; choose another',
    ]);
  });

  it("refuses another table name", () => {
    assert.deepEqual(firewallFaults(firewall("a", "new"), firewall("a", "old"), []), [
      'spec.table.name is immutable; it is "old", make a new object for "new"',
    ]);
  });

  it("refuses what agents could not load, with the path in the object", () => {
    assert.match(firewallFaults(firewall("a", ""), undefined, []).join(), /^spec\.table\.name is empty/);
    assert.match(routeFaults(route("a", "a b"), undefined, []).join(), /^spec\.table\.name "a b"/);
  });

  it("names rules without a name, and only those", () => {
    let count = 0;
    const match = [{ op: "eq" as const, proto: { value: "tcp" as const } }];
    const named = withRuleNames(
      {
        name: "t",
        family: "IPV4",
        chains: [
          {
            name: "c",
            type: "filter",
            policy: "accept",
            hook: "forward",
            priority: 0,
            rules: {
              filterRules: [
                { name: "kept", counter: true, match, action: "drop" },
                { counter: true, match, action: "accept" },
                { name: "", counter: true, match, action: "accept" },
              ],
            },
          },
          {
            name: "d",
            type: "nat",
            policy: "accept",
            hook: "output",
            priority: 0,
            rules: { natRules: [{ match, natType: "dnat", to: "10.0.0.1" }] },
          },
          {
            name: "e",
            type: "route",
            policy: "accept",
            hook: "output",
            priority: 0,
            rules: { routeRules: [{}] },
          },
        ],
      },
      () => `drawn ${(count += 1)}`,
    );
    const names = (named.chains ?? []).map(({ rules }) =>
      Object.values(rules)
        .flat()
        .map(({ name }) => name),
    );
    assert.deepEqual(names, [["kept", "drawn 1", "drawn 2"], ["drawn 3"], ["drawn 4"]]);
    assert.deepEqual(
      withRuleNames(named, () => assert.fail()),
      named,
    );
  });
});
