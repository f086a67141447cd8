import assert from "node:assert/strict";
import {
  type Chain,
  type FirewallTable,
  type Match,
  nftName,
  ruleComment,
} from "../../../runtime/networking/firewall/firewall-table";
import { tableFaults } from "../../../runtime/networking/firewall/validation";

type Rules = Chain["rules"];
const filterChain = (rules: Rules, over: Partial<Chain> = {}): FirewallTable => ({
  name: "t",
  family: "IPV4",
  chains: [{ name: "c", type: "filter", policy: "accept", hook: "forward", priority: 0, rules, ...over }],
});
const filter = (match: Match, over: object = {}) =>
  filterChain({ filterRules: [{ name: "r", counter: true, match: [match], action: "accept", ...over }] });
const nat = (over: object, hook: Chain["hook"] = "postrouting") =>
  filterChain(
    { natRules: [{ name: "r", match: [], natType: "snat", to: "10.0.0.1", ...over }] },
    { type: "nat", hook },
  );
const ip = (value: string): Match => ({ op: "eq", ip: { value, position: "src" } });
const chain = (over: Partial<Chain>, family: FirewallTable["family"] = "IPV4"): FirewallTable => ({
  ...filterChain({}, over),
  family,
});

describe("faults of a firewall table", () => {
  const sound: [string, FirewallTable][] = [
    ["no chains", { name: "t", family: "IPV4" }],
    ["no rules", filterChain({})],
    ["a filter", filter({ op: "neq", ip: { value: "10.0.0.1-10.0.0.1", position: "dst" } })],
    ["source translation on the way in", nat({}, "input")],
    ["destination translation of what the host sends", nat({ natType: "dnat" }, "output")],
    ["a chain for arriving frames", chain({ hook: "ingress" }, "INET")],
    ["route rules", chain({ type: "route", hook: "output", rules: { routeRules: [{ name: "r" }] } })],
  ];
  for (const [what, table] of sound)
    it(`are none with ${what}`, () => assert.deepEqual(tableFaults(table), []));

  const faulty: [string, FirewallTable, RegExp][] = [
    [
      "a table of kube-proxy's name",
      { name: "kube-proxy", family: "IPV4" },
      /^table\.name "kube-proxy" is that of a table of other software; choose another$/,
    ],
    [
      "a chain that translates before connections are tracked",
      chain({ type: "nat", hook: "prerouting", priority: -300, rules: { natRules: [] } }),
      /^table\.chains\.0\.priority -300 is too early for a chain of type nat; give more than -200$/,
    ],
    ["an empty table name", { name: "", family: "IPV4" }, /^table\.name is empty; give a name$/],
    [
      "a line break in a name",
      { name: "a\nflush ruleset", family: "IPV4" },
      /^table\.name has control characters/,
    ],
    [
      "two chains of a name",
      {
        name: "t",
        family: "IPV4",
        chains: [...(filterChain({}).chains ?? []), ...(filterChain({}).chains ?? [])],
      },
      /^table\.chains has more than one chain "c"/,
    ],
    [
      "a chain of an agent's",
      chain({ name: "liqo-0123456789abcdef" }),
      /chains\.0\.name "liqo-0123456789abcdef" is one that agents use/,
    ],
    [
      "a type that the family lacks",
      chain({ type: "nat", hook: "input" }, "ARP"),
      /type nat does not exist in family ARP; use one of: filter$/,
    ],
    [
      "a hook that the type lacks",
      chain({ type: "nat" }),
      /hook forward is not for chains of type nat in family IPV4; use one of: prerouting, input, output, postrouting$/,
    ],
    ["ingress in IPv4", chain({ hook: "ingress" }), /hook ingress is not for chains of type filter/],
    [
      "NAT rules in a filter chain",
      filterChain({ natRules: [] }),
      /rules\.natRules do not belong in a chain of type filter; use filterRules$/,
    ],
    [
      "a rule without a name",
      filter({ ...ip("10.0.0.1") }, { name: undefined }),
      /rules\.filterRules\.0\.name is empty; give a name$/,
    ],
    [
      "two rules of a name",
      filterChain({
        filterRules: [1, 2].map(() => ({ name: "r", counter: true, match: [], action: "drop" as const })),
      }),
      /rules\.filterRules has more than one rule "r"/,
    ],
    [
      "destination translation on the way out",
      nat({ natType: "dnat" }),
      /natRules\.0\.natType dnat is not for hook postrouting; use one of: prerouting, output$/,
    ],
    [
      "masquerading on the way in",
      nat({ natType: "masquerade", to: undefined }, "prerouting"),
      /natType masquerade is not for hook prerouting; use one of: postrouting, input$/,
    ],
    [
      "a target for masquerading",
      nat({ natType: "masquerade" }),
      /to is "10\.0\.0\.1", but masquerade takes the address of the interface/,
    ],
    ["no target", nat({ to: undefined }), /to is missing; give the address or network that snat writes$/],
    [
      "a range as target",
      nat({ to: "10.0.0.1-10.0.0.2" }),
      /to "10\.0\.0\.1-10\.0\.0\.2" is neither an address nor a CIDR/,
    ],
    ["no address", filter(ip("10.0.0")), /match\.0\.ip\.value "10\.0\.0" is no address/],
    ["a network too long", filter(ip("10.0.0.0/33")), /is no address/],
    ["a range of three", filter(ip("10.0.0.1-10.0.0.2-10.0.0.3")), /is no address/],
    [
      "a range backwards",
      filter(ip("10.0.0.2-10.0.0.1")),
      /"10\.0\.0\.2-10\.0\.0\.1" ends before it begins; swap the addresses$/,
    ],
    ["IPv6 in IPv4", filter(ip("fd00::1")), /"fd00::1" is IPv6, which family IPV4 does not have$/],
    [
      "a port without a protocol",
      filter({ op: "eq", port: { value: "80", position: "dst" } }),
      /match\.0\.port needs a protocol; add proto: \{value: tcp\} or udp$/,
    ],
    [
      "no port",
      filter({ op: "eq", proto: { value: "tcp" }, port: { value: "65536", position: "dst" } }),
      /port\.value "65536" is no port/,
    ],
    [
      "ports backwards",
      filter({ op: "eq", proto: { value: "tcp" }, port: { value: "90-80", position: "dst" } }),
      /port\.value "90-80" is no port/,
    ],
    ["a match of nothing", filter({ op: "eq" }), /match\.0 matches nothing; give ip, port, proto or dev$/],
    [
      "a quote in an interface",
      filter({ op: "eq", dev: { value: 'a"b', position: "in" } }),
      /dev\.value "a"b" is no name of an interface/,
    ],
    [
      "a mark that is no number",
      filter(ip("10.0.0.1"), { action: "ctmark", value: "x" }),
      /value "x" is no mark; give a number of 32 bits$/,
    ],
    [
      "clamping of any protocol",
      filter(ip("10.0.0.1"), { action: "tcpmssclamp" }),
      /match does not ask for tcp, which tcpmssclamp needs/,
    ],
    [
      "a huge segment",
      filter({ op: "eq", proto: { value: "tcp" } }, { action: "tcpmssclamp", value: "70000" }),
      /value "70000" is no segment size/,
    ],
  ];
  for (const [what, table, expected] of faulty) {
    it(`name ${what}`, () => {
      const faults = tableFaults(table);
      assert.equal(faults.length, 1, faults.join("\n"));
      assert.match(faults[0] ?? "", expected);
    });
  }
});

describe("names in the kernel", () => {
  it("are those of the objects, until they are too long", () => {
    assert.equal(nftName("x".repeat(255)), "x".repeat(255));
    assert.equal(ruleComment("é".repeat(64)), "é".repeat(64));
    const [a, b] = [`${"x".repeat(300)}a`, `${"x".repeat(300)}b`];
    assert.equal(nftName(a).length, 255);
    assert.notEqual(nftName(a), nftName(b));
    assert.match(nftName(a), /^x+-[0-9a-f]{16}$/);
    assert.ok(Buffer.byteLength(ruleComment("é".repeat(65))) <= 128);
  });
});
