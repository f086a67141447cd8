import { z } from "zod";

import assert from "node:assert/strict";
import type {
  Chain,
  FilterRule,
  FirewallTable,
  Match,
} from "../../../runtime/networking/firewall/firewall-table";
import {
  holderOf,
  isInPlace,
  ownTables,
  parseNftListing,
} from "../../../runtime/networking/firewall/nft-listing";
import { removalScript, renderTable } from "../../../runtime/networking/firewall/nft-script";
import { canUse, inNamespace } from "./namespace";

const chain = (over: Partial<Chain>): Chain => ({
  name: "outgoing",
  type: "nat",
  policy: "accept",
  hook: "prerouting",
  priority: -100,
  rules: {},
  ...over,
});
const table = (...chains: Chain[]): FirewallTable => ({ name: "remap-podcidr", family: "IPV4", chains });
const forward = (
  action: FilterRule["action"],
  match: Match[],
  over: Partial<FilterRule> = {},
): FirewallTable =>
  table(
    chain({
      name: "forward",
      type: "filter",
      hook: "forward",
      priority: 0,
      rules: { filterRules: [{ name: "rule", counter: false, match, action, ...over }] },
    }),
  );
const dst = (value: string, op: Match["op"] = "eq"): Match => ({ op, ip: { value, position: "dst" } });
const src = (value: string, op: Match["op"] = "eq"): Match => ({ op, ip: { value, position: "src" } });
const dev = (value: string, position: "in" | "out", op: Match["op"] = "eq"): Match => ({
  op,
  dev: { value, position },
});
const tcp: Match = { op: "eq", proto: { value: "tcp" } };

const remap = table(
  chain({
    rules: {
      natRules: [
        {
          name: "out 0",
          match: [dst("10.71.0.0/16"), dev("eth0", "in", "neq"), dev("liqo-tunnel", "in", "neq")],
          natType: "dnat",
          to: "10.243.0.0/16",
        },
      ],
    },
  }),
  chain({
    name: "incoming",
    hook: "postrouting",
    priority: 99,
    rules: {
      natRules: [
        { name: "in 0", match: [src("10.243.0.0/16")], natType: "snat", to: "10.71.0.0/16" },
        { name: "in 1", match: [dst("10.70.0.9")], natType: "snat", to: "10.70.0.0" },
        { name: "in 2", match: [dst("10.70.0.9/32")], natType: "masquerade" },
      ],
    },
  }),
);

describe("the script of a firewall table", () => {
  const commands = (text: string) =>
    z
      .object({
        nftables: z.array(
          z.record(z.string(), z.record(z.string(), z.looseObject({ name: z.string().optional() }))),
        ),
      })
      .parse(JSON.parse(text))
      .nftables.flatMap((command) =>
        Object.entries(command).flatMap(([verb, object]) =>
          Object.entries(object).map(([kind, { name }]) =>
            [verb, kind, ...(name === undefined ? [] : [name])].join(" "),
          ),
        ),
      );

  it("replaces the table as a whole, and marks it as ours", () => {
    const { creation, replacement, marker, chains } = renderTable(remap);
    assert.match(marker, /^liqo-[0-9a-f]{16}$/);
    assert.deepEqual(commands(creation)[0], "create table remap-podcidr");
    assert.deepEqual(commands(replacement).slice(3), commands(creation).slice(1));
    assert.deepEqual(commands(replacement), [
      "add table remap-podcidr",
      "delete table remap-podcidr",
      "add table remap-podcidr",
      `add chain ${marker}`,
      "add chain outgoing",
      "add rule",
      "add chain incoming",
      "add rule",
      "add rule",
      "add rule",
    ]);
    assert.deepEqual(
      chains.map(({ comments }) => comments),
      [["out 0"], ["in 0", "in 1", "in 2"]],
    );
  });

  it("removes a table that may be absent", () => {
    assert.deepEqual(commands(removalScript([{ family: "ip", name: "t" }])), [
      "add table t",
      "delete table t",
    ]);
  });

  it("has a mark that changes with the content alone", () => {
    const { marker } = renderTable(remap);
    assert.equal(renderTable(structuredClone(remap)).marker, marker);
    const [first, second] = remap.chains ?? [];
    assert.ok(first && second);
    assert.notEqual(renderTable(table(second, first)).marker, marker);
    assert.notEqual(renderTable(table(first, { ...second, priority: 100 })).marker, marker);
  });

  it("is not made of a table with faults", () => {
    assert.throws(() => renderTable(forward("ctmark", [])), {
      message: /^the table cannot be loaded: table\.chains\.0\.rules\.filterRules\.0\.value is missing/,
    });
  });
});

// What the kernel lists once it has a table is what it lists for the same in nft's own language (networking reference 12).
if (canUse("nft")) {
  const listed = (script: string, json: boolean): string[] =>
    inNamespace(`nft ${json ? "-j" : ""} -f - && nft -nn list ruleset`, script)
      .split("\n")
      .map((line) => line.trim().replace(/ comment ".*"$/, ""));

  const inPlainLanguage = (
    wanted: FirewallTable,
    family: string,
    marker: string,
    rules: string[][],
  ): string =>
    `table ${family} ${wanted.name} {\n chain ${marker} {\n }\n` +
    (wanted.chains ?? [])
      .map(
        ({ name, type, hook, priority, policy }, index) =>
          ` chain ${name} {\n  type ${type} hook ${hook} priority ${priority}; policy ${policy};\n  ${(rules[index] ?? []).join("\n  ")}\n }\n`,
      )
      .join("") +
    "}\n";

  describe("a firewall table in the kernel", function () {
    this.timeout(180_000);

    const cases: [string, FirewallTable, string[][]][] = [
      [
        "network address translation",
        remap,
        [
          [
            'ip daddr 10.71.0.0/16 iifname != "eth0" iifname != "liqo-tunnel" dnat ip prefix to 10.243.0.0/16',
          ],
          [
            "ip saddr 10.243.0.0/16 snat ip prefix to 10.71.0.0/16",
            "ip daddr 10.70.0.9 snat to 10.70.0.0",
            "ip daddr 10.70.0.9 masquerade",
          ],
        ],
      ],
      [
        "a range of addresses",
        forward("drop", [dst("10.1.0.3-10.1.0.9", "neq")]),
        [["ip daddr != 10.1.0.3-10.1.0.9 drop"]],
      ],
      [
        "a network with bits beyond its prefix",
        forward("accept", [src("10.1.2.3/12")]),
        [["ip saddr 10.0.0.0/12 accept"]],
      ],
      [
        "a port of a protocol",
        forward("reject", [{ op: "neq", proto: { value: "udp" }, port: { value: "53", position: "dst" } }]),
        [["meta l4proto udp th dport != 53 reject"]],
      ],
      [
        "a range of ports, the protocol in a match of its own",
        forward("accept", [tcp, { op: "eq", port: { value: "8000-8080", position: "src" } }]),
        [["meta l4proto tcp th sport 8000-8080 accept"]],
      ],
      [
        "another protocol",
        forward("drop", [{ op: "neq", proto: { value: "tcp" } }]),
        [["meta l4proto != tcp drop"]],
      ],
      [
        "all parts of a match",
        forward("accept", [{ ...tcp, ...part(dev("liqo.b", "out")), ...part(src("10.1.0.1")) }]),
        [['meta l4proto tcp oifname "liqo.b" ip saddr 10.1.0.1 accept']],
      ],
      [
        "all interfaces with a prefix",
        forward("accept", [dev("liqo.*", "in")]),
        [['iifname "liqo.*" accept']],
      ],
      ["a counter", forward("accept", [], { counter: true }), [["counter accept"]]],
      [
        "a mark on the connection",
        forward("ctmark", [src("10.70.0.0")], { value: "7" }),
        [["ip saddr 10.70.0.0 ct mark set 7"]],
      ],
      [
        "the connection's mark on the packet",
        forward("metamarkfromctmark", [dev("liqo-tunnel", "in")]),
        [['iifname "liqo-tunnel" meta mark set ct mark']],
      ],
      [
        "the path's segment size",
        forward("tcpmssclamp", [tcp, dev("liqo-tunnel", "out")], { value: "0" }),
        [['meta l4proto tcp oifname "liqo-tunnel" tcp flags & syn != 0 tcp option maxseg size set rt mtu']],
      ],
      [
        "a segment size",
        forward("tcpmssclamp", [tcp], { value: "1200" }),
        [["meta l4proto tcp tcp flags & syn != 0 tcp option maxseg size set 1200"]],
      ],
      [
        "both families",
        {
          ...table(
            chain({
              rules: {
                natRules: [{ name: "a", match: [dst("10.71.0.0/16")], natType: "dnat", to: "10.243.0.0/16" }],
              },
            }),
          ),
          family: "INET",
        },
        [["ip daddr 10.71.0.0/16 dnat ip prefix to 10.243.0.0/16"]],
      ],
      [
        "IPv6",
        { ...forward("drop", [dst("fd00:1::/32")]), family: "IPV6" },
        [["ip6 daddr fd00:1::/32 drop"]],
      ],
      [
        "no connection tracking",
        forward("notrack", [{ op: "eq", proto: { value: "udp" }, port: { value: "6091", position: "dst" } }]),
        [["meta l4proto udp th dport 6091 notrack"]],
      ],
    ];
    for (const [what, wanted, rules] of cases) {
      it(`holds ${what}`, () => {
        const { creation, family, marker } = renderTable(wanted);
        assert.deepEqual(
          listed(creation, true),
          listed(inPlainLanguage(wanted, family, marker, rules), false),
        );
      });
    }

    /** Loads a table, does something to it, and tells whether it is still in place. */
    const inPlaceAfter = (wanted: FirewallTable, disturb: string): boolean => {
      const rendered = renderTable(wanted);
      const script = `nft -j -f - && ${disturb} && nft -j list table ${rendered.family} ${rendered.name}`;
      return isInPlace(rendered, parseNftListing(inNamespace(script, rendered.creation)));
    };

    it("is in place when it was loaded", () => assert.ok(inPlaceAfter(remap, "true")));

    const disturbances: [string, string][] = [
      ["a rule was flushed", "nft flush chain ip remap-podcidr incoming"],
      ["a rule came in", "nft add rule ip remap-podcidr outgoing counter"],
      [
        "a rule was replaced",
        "nft flush chain ip remap-podcidr outgoing && nft add rule ip remap-podcidr outgoing counter",
      ],
      ["a chain came in", "nft add chain ip remap-podcidr more"],
      [
        "a chain was lost",
        "nft flush chain ip remap-podcidr outgoing && nft delete chain ip remap-podcidr outgoing",
      ],
      ["a policy was changed", "nft chain ip remap-podcidr outgoing '{ policy drop; }'"],
      [
        "somebody else wrote the table",
        "nft delete table ip remap-podcidr && nft add table ip remap-podcidr",
      ],
    ];
    for (const [what, disturb] of disturbances) {
      it(`is not in place when ${what}`, () => assert.equal(inPlaceAfter(remap, disturb), false));
    }

    it("takes the place of what was there, and leaves the tables of others alone", () => {
      const [before, after] = [renderTable(remap), renderTable(forward("drop", [src("10.1.0.1")]))];
      const listing = inNamespace(
        `nft add table ip filter; nft add chain ip filter liqo-gateway; printf '%s' '${before.creation}' | nft -j -f -; nft -j -f -; nft -j list ruleset`,
        after.replacement,
      );
      const state = parseNftListing(listing);
      assert.deepEqual(ownTables(state), [{ family: "ip", name: "remap-podcidr" }]);
      const removed = inNamespace(
        `nft add table ip filter; printf '%s' '${before.creation}' | nft -j -f -; nft -j -f -; nft list tables`,
        removalScript([before]),
      );
      assert.equal(removed.trim(), "table ip filter");
    });

    it("is not made where somebody else has one of its name, with chains or without", () => {
      const wanted = renderTable(remap);
      for (const theirs of ["", "nft add chain ip remap-podcidr theirs;"]) {
        const listing = inNamespace(
          `nft add table ip remap-podcidr; ${theirs} nft -j -f - 2>/dev/null && echo loaded; nft -j list ruleset`,
          wanted.creation,
        );
        const state = parseNftListing(listing);
        assert.equal(holderOf(wanted, state), theirs === "" ? "nobody" : "others");
        assert.deepEqual(ownTables(state), []);
      }
      const after = inNamespace("nft -j -f - && nft -j list chains", wanted.creation);
      assert.equal(holderOf(wanted, parseNftListing(after)), "ours");
    });

    it("takes any name that an object may have", () => {
      for (const name of [
        "1rome-masquerade-bypass",
        "10-0-0-7-remap-ipmapping-gw-liqo",
        "ip",
        'a "quoted" one',
        "x".repeat(340),
      ]) {
        const named = {
          ...remap,
          name,
          chains: remap.chains?.map((one) => ({ ...one, name: `${name} ${one.name}` })),
        };
        const rendered = renderTable(named);
        const listing = inNamespace("nft -j -f - && nft -j list ruleset", rendered.creation);
        assert.ok(isInPlace(rendered, parseNftListing(listing)), name);
        assert.ok(rendered.name.length <= 255);
      }
    });
  });
}

/** A match's own part, without the operator. */
function part({ op: _op, ...rest }: Match): Omit<Match, "op"> {
  return rest;
}
