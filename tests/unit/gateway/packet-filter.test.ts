import { z } from "zod";

import assert from "node:assert/strict";
import { publishedBy, tunnelFilter, type TunnelFilterFacts } from "../../../runtime/gateway/packet-filter";
import { formatCidr, parseCidr } from "../../../runtime/ipam/cidr";
import type { FirewallTable, NatRule } from "../../../runtime/networking/firewall/firewall-table";
import { isInPlace, parseRuleCounters } from "../../../runtime/networking/firewall/nft-listing";

const facts: TunnelFilterFacts = {
  device: "liqo-tunnel",
  address: "169.254.18.2",
  peerAddress: "169.254.18.1",
  pingPort: 12_345,
  overlayPort: 6091,
  peerNetworks: ["10.243.0.0/16", "10.70.0.0/16"].map(parseCidr),
  podNetworks: [parseCidr("10.42.0.0/16")],
  published: [parseCidr("10.95.0.1/32")],
};

const command = z.object({
  add: z
    .object({
      chain: z.object({ name: z.string(), hook: z.string().optional(), prio: z.number().optional() }),
      rule: z.object({
        chain: z.string(),
        comment: z.string(),
        expr: z.array(z.record(z.string(), z.unknown())),
      }),
    })
    .partial()
    .optional(),
});
const script = z.object({ nftables: z.array(command) });

/** The rules of a chain in few words: the comment, what is compared, the verdict. */
function rulesOf(chain: "forward" | "input", over: Partial<TunnelFilterFacts> = {}): string[] {
  const { nftables } = script.parse(JSON.parse(tunnelFilter({ ...facts, ...over }).creation));
  return nftables.flatMap(({ add }) =>
    add?.rule?.chain === chain ? [`${add.rule.comment}: ${add.rule.expr.map(words).join(", ")}`] : [],
  );
}

const operand = z.union([
  z.string(),
  z.number(),
  z.object({ meta: z.object({ key: z.string() }) }).transform(({ meta }) => meta.key),
  z.object({ ct: z.object({ key: z.string() }) }).transform(({ ct }) => `ct ${ct.key}`),
  z
    .object({ payload: z.object({ protocol: z.string(), field: z.string() }) })
    .transform(({ payload }) => `${payload.protocol} ${payload.field}`),
  z
    .object({
      set: z.array(
        z.union([
          z.string(),
          z
            .object({ prefix: z.object({ addr: z.string(), len: z.number() }) })
            .transform(({ prefix }) => `${prefix.addr}/${prefix.len}`),
        ]),
      ),
    })
    .transform(({ set }) => `{${set.join(" ")}}`),
]);
const match = z.object({ op: z.string(), left: operand, right: operand });

function words(expression: Record<string, unknown>): string {
  const [[key = "", value] = []] = Object.entries(expression);
  if (key !== "match") return key;
  const { op, left, right } = match.parse(value);
  return `${left} ${op} ${right}`;
}

describe("what a gateway lets out of its tunnel", () => {
  it("are packets of the peer's networks to pods, to what is published, and answers", () => {
    assert.deepEqual(rulesOf("forward"), [
      "other devices: iifname != liqo-tunnel*, accept",
      "way: oifname != liqo.*, counter, drop",
      "state: ct state in invalid, counter, drop",
      "errors of connections: l4proto == icmp, ct state in related, accept",
      "source: ip saddr != {10.70.0.0/16 10.243.0.0/16}, counter, drop",
      "overlay: l4proto == udp, th dport == 6091, counter, drop",
      "pods: ip daddr == {10.42.0.0/16}, accept",
      "answers: ct direction == reply, accept",
      "published: ct status in dnat, ip daddr == {10.95.0.1}, accept",
      "destination: counter, drop",
    ]);
  });

  it("are, to the gateway itself, pings of the other end and answers", () => {
    assert.deepEqual(rulesOf("input"), [
      "other devices: iifname != liqo-tunnel*, accept",
      "pings: ip saddr == 169.254.18.1, ip daddr == 169.254.18.2, l4proto == udp, th dport == 12345, accept",
      "echo requests: ip saddr == 169.254.18.1, ip daddr == 169.254.18.2, icmp type == echo-request, accept",
      "errors of connections: l4proto == icmp, ct state in related, accept",
      "answers: ct direction == reply, accept",
      "gateway: counter, drop",
    ]);
  });

  const partly: [string, Partial<TunnelFilterFacts>, string[], string[]][] = [
    ["of a peer of which nothing is known", { peerNetworks: [] }, ["source: counter, drop"], []],
    ["in a cluster without pod networks", { podNetworks: [] }, [], ["pods"]],
    ["where nothing is published", { published: [] }, [], ["published"]],
    [
      "where networks are said twice, and one inside of another",
      { podNetworks: ["10.44.0.0/20", "10.42.7.0/24", "10.42.0.0/16", "10.42.0.0/16"].map(parseCidr) },
      ["pods: ip daddr == {10.42.0.0/16 10.44.0.0/20}, accept"],
      [],
    ],
  ];
  for (const [what, over, there, absent] of partly) {
    it(`are fewer or as many ${what}`, () => {
      const rules = rulesOf("forward", over);
      for (const rule of there) assert.ok(rules.includes(rule), rules.join("\n"));
      for (const comment of absent) assert.ok(!rules.some((rule) => rule.startsWith(`${comment}:`)));
      assert.equal(rules.at(-1), "destination: counter, drop");
    });
  }

  it("are told apart by the content of the table", () => {
    const table = tunnelFilter(facts);
    const listing = {
      nftables: [
        { chain: { family: "ip", table: "liqo-tunnel", name: table.marker } },
        ...table.chains.flatMap(({ name, type, hook, priority, policy, comments }) => [
          { chain: { family: "ip", table: "liqo-tunnel", name, type, hook, prio: priority, policy } },
          ...comments.map((comment) => ({
            rule: { family: "ip", table: "liqo-tunnel", chain: name, comment },
          })),
        ]),
      ],
    };
    assert.equal(isInPlace(table, listing), true);
    const others: Partial<TunnelFilterFacts>[] = [
      { peerNetworks: [] },
      { podNetworks: [parseCidr("10.42.0.0/17")] },
      { published: [] },
      { pingPort: 12_346 },
      { overlayPort: 6081 },
    ];
    for (const over of others) {
      assert.equal(isInPlace(tunnelFilter({ ...facts, ...over }), listing), false, JSON.stringify(over));
    }
    assert.equal(isInPlace(table, { nftables: listing.nftables.slice(0, -1) }), false);
  });

  it("are counted where they are dropped", () => {
    const rule = (comment: string, ...expr: object[]) => ({ rule: { comment, expr } });
    const text = JSON.stringify({
      nftables: [
        { metainfo: { version: "1.0.6" } },
        rule("pods", { match: { op: "==" } }, { accept: null }),
        rule("source", { match: { op: "!=" } }, { counter: { packets: 7, bytes: 420 } }, { drop: null }),
        rule("destination", { counter: { packets: 0, bytes: 0 } }, { drop: null }),
      ],
    });
    assert.deepEqual(
      [...parseRuleCounters(text)],
      [
        ["source", 7],
        ["destination", 0],
      ],
    );
  });
});

describe("what is published to peers", () => {
  const table = (rule: Partial<NatRule>, over: Partial<FirewallTable> = {}): FirewallTable => ({
    name: "one",
    family: "IPV4",
    chains: [
      {
        name: "prerouting",
        type: "nat",
        policy: "accept",
        hook: "prerouting",
        priority: -100,
        rules: {
          natRules: [
            {
              name: "one",
              match: [{ op: "eq", ip: { value: "10.60.0.1", position: "dst" } }],
              natType: "dnat",
              to: "10.95.0.1",
              ...rule,
            },
          ],
        },
      },
    ],
    ...over,
  });
  const on = (value: string, op: "eq" | "neq" = "eq", position: "in" | "out" = "in"): Partial<NatRule> => ({
    match: [{ op, dev: { value, position } }],
  });
  const cases: [string, FirewallTable, string[]][] = [
    ["an address", table({}), ["10.95.0.1/32"]],
    ["a network", table({ to: "10.9.7.0/24" }), ["10.9.7.0/24"]],
    ["what comes by the tunnel", table(on("liqo-tunnel")), ["10.95.0.1/32"]],
    ["what comes by any tunnel", table(on("liqo-tunnel*")), ["10.95.0.1/32"]],
    ["what does not come by another device", table(on("eth0", "neq")), ["10.95.0.1/32"]],
    ["nothing that comes by the overlay", table(on("liqo.*")), []],
    ["nothing that does not come by the tunnel", table(on("liqo-tunnel", "neq")), []],
    ["nothing where sources are translated", table({ natType: "snat" }), []],
    ["nothing of IPv6", table({ to: "fd00::1" }), []],
    ["nothing that cannot be read", table({ to: "somewhere" }), []],
    ["nothing of another family", table({}, { family: "IPV6" }), []],
    ["nothing without chains", table({}, { chains: undefined }), []],
  ];
  for (const [what, given, expected] of cases) {
    it(`is ${what}`, () => {
      assert.deepEqual(publishedBy([given], "liqo-tunnel").map(formatCidr), expected);
    });
  }
});
