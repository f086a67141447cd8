import assert from "node:assert/strict";

import {
  localLookupPlan,
  overlayLookupPlan,
  tableInGateway,
} from "../../../runtime/networking/routes/local-lookup";
import type { RouteTable } from "../../../runtime/networking/routes/validation";
import { type ObservedRule, parseRoutes, parseRules } from "../../../runtime/networking/kernel/ip-listing";
import { routeTablePlan } from "../../../runtime/networking/routes/route-plan";
import { canUse, Namespace } from "./namespace";

const usual: ObservedRule = { priority: 0, table: "255", foreign: false };
const except = (dst: string): ObservedRule => ({ priority: 0, table: "255", dst, foreign: true });
const last: ObservedRule = { priority: 32_765, table: "255", foreign: false };
const main: ObservedRule = { priority: 32_766, table: "254", foreign: false };

const ADD_LAST = "rule add priority 32765 from all lookup local";
const ADD_FIRST = "rule add priority 0 not from all to 10.31.0.4/32 lookup local";
const DELETE_USUAL = "rule del priority 0 from all lookup local";

describe("the look-up of a gateway's own address", () => {
  const cases: [string, ObservedRule[], string[]][] = [
    ["is put last where all is as usual", [usual, main], [ADD_LAST, ADD_FIRST, DELETE_USUAL]],
    ["stays where it is", [except("10.31.0.4/32"), last, main], []],
    [
      "is put last once more where somebody has added the usual rule",
      [except("10.31.0.4/32"), usual, last],
      [DELETE_USUAL],
    ],
    [
      "follows the address",
      [except("10.31.0.9/32"), last, main],
      [ADD_FIRST, "rule del priority 0 not from all to 10.31.0.9/32 lookup local"],
    ],
    ["is added where the last rule is gone", [except("10.31.0.4/32"), main], [ADD_LAST]],
    [
      "leaves rules of others alone",
      [except("10.31.0.4/32"), last, { priority: 100, table: "255", iif: "x", foreign: false }, main],
      [],
    ],
  ];
  for (const [what, rules, lines] of cases) {
    it(what, () => assert.deepEqual(localLookupPlan("10.31.0.4", rules), lines));
  }

  if (canUse("ip")) {
    it("leaves the way to a pod of a peer that has the address, and of that pod to here", async function () {
      this.timeout(180_000);
      const namespace = await Namespace.open();
      try {
        namespace.run(`
          for name in eth0 liqo.A liqo-tunnel; do
            ip link add $name type veth peer name $name-end
            ip link set $name up; ip link set $name-end up
          done
          ip link set lo up
          sysctl -qw net.ipv4.ip_forward=1
          ip address add 10.31.0.4/24 dev eth0
          ip address add 10.80.0.3/32 dev liqo.A
          ip address add 169.254.18.1/30 dev liqo-tunnel
          ip route add 10.31.0.7 dev liqo.A table 7
          ip route add 10.31.0.0/16 dev liqo-tunnel table 8
          ip rule add iif liqo-tunnel lookup 7`);
        const plan = () => localLookupPlan("10.31.0.4", parseRules(namespace.run("ip -4 -j -N rule show")));
        namespace.run("ip -4 -batch -", plan().join("\n"));
        assert.deepEqual(plan(), []);
        namespace.run("ip rule add iif liqo.A to 10.31.0.0/16 lookup 8");
        const way = (to: string, from: string, iif: string) =>
          namespace.run(`ip -4 route get ${to} from ${from} iif ${iif} 2>&1 || true`).split("\n")[0] ?? "";
        assert.match(way("10.31.0.4", "10.31.0.7", "liqo.A"), /dev liqo-tunnel/, "to the peer's pod");
        assert.match(way("10.31.0.7", "10.31.0.4", "liqo-tunnel"), /dev liqo.A/, "from the peer's pod");
        assert.match(way("10.31.0.4", "10.31.0.1", "eth0"), /^local 10.31.0.4/, "to the gateway");
        assert.match(way("169.254.18.1", "169.254.18.2", "liqo-tunnel"), /^local/, "in the tunnel");
        assert.match(
          way("10.80.0.3", "10.80.0.1", "liqo.A"),
          /^local|No route|cross-device/,
          "in the overlay",
        );
        assert.match(namespace.run("ip -4 route get 10.31.0.4"), /^local 10.31.0.4/, "from the gateway");
      } finally {
        await namespace.close();
      }
    });
  }
});

describe("the look-up of addresses of the overlay in a gateway", () => {
  const links = [
    { name: "liqo.A", address: "10.80.0.3" },
    { name: "liqo.B", address: "10.80.0.3" },
  ];
  /** The peer's pods have addresses from 10.80.0.0 on, as nodes and gateways have in the overlay. */
  const toPeer = (dst: string): RouteTable => ({
    name: "milan",
    rules: links.map(({ name: iif }) => ({ iif, dst, routes: [{ dst, gw: "169.254.18.1" }] })),
  });
  const toNode = (name: string, dev: string, address: string, pod: string): RouteTable => ({
    name,
    rules: [
      { dst: `${address}/32`, routes: [{ dst: `${address}/32`, dev, scope: "link" }] },
      { iif: "liqo-tunnel", routes: [{ dst: `${pod}/32`, gw: address }] },
    ],
  });
  const local = (dev: string) => ({
    table: "255",
    dst: "10.80.0.3/32",
    dev,
    scope: "host",
    onlink: false,
    metric: 0,
    foreign: true,
  });

  it("is given up for the peer's pods only where they can have the address", () => {
    const observed = [local("liqo.A"), local("lo")];
    assert.deepEqual(overlayLookupPlan(links, [toPeer("10.80.0.0/20")], observed), [
      "route del local 10.80.0.3 dev liqo.A table local",
    ]);
    assert.deepEqual(overlayLookupPlan(links, [toPeer("10.71.0.0/16")], observed), []);
    assert.deepEqual(overlayLookupPlan(links, [toPeer("10.80.0.0/20")], []), []);
  });

  it("has ways to nodes for next hops alone, and none to itself", () => {
    const { rules } = tableInGateway("10.31.0.4", toNode("rome-1", "liqo.A", "10.80.0.1", "10.31.0.4"));
    assert.deepEqual(
      rules.map(({ iif, dst, routes }) => [iif, dst, routes.length]),
      [
        ["lo", "10.80.0.1/32", 1],
        ["liqo-tunnel", undefined, 0],
      ],
    );
  });

  if (canUse("ip")) {
    it("leaves the ways to the peer's pods, and from them, that have addresses of nodes and of the gateway", async function () {
      this.timeout(180_000);
      const namespace = await Namespace.open();
      try {
        namespace.run(`
          for name in eth0 liqo.A liqo.B liqo-tunnel; do
            ip link add $name type veth peer name $name-end
            ip link set dev $name up; ip link set dev $name-end up
          done
          ip link set lo up
          sysctl -qw net.ipv4.ip_forward=1
          ip address add 10.31.0.4/24 dev eth0
          ip route add default via 10.31.0.1
          ip address add 10.80.0.3/32 dev liqo.A
          ip address add 10.80.0.3/32 dev liqo.B
          ip address add 169.254.18.2/30 dev liqo-tunnel`);
        const rules = () => parseRules(namespace.run("ip -4 -j -N rule show"));
        const routes = () => parseRoutes(namespace.run("ip -4 -j -N route show table all"));
        const apply = (lines: string[]) => namespace.run("ip -4 -batch -", lines.join("\n"));
        apply(localLookupPlan("10.31.0.4", rules()));
        const peer = toPeer("10.80.0.0/20");
        // The second node comes later, so that its rules are asked first.
        const tables = [
          toNode("rome-1", "liqo.A", "10.80.0.1", "10.31.1.7"),
          peer,
          toNode("rome-2", "liqo.B", "10.80.0.2", "10.31.2.7"),
        ].map((table) => tableInGateway("10.31.0.4", table));
        for (const table of tables) apply(routeTablePlan(table, { rules: rules(), routes: [] }));
        const plan = () => overlayLookupPlan(links, tables, routes());
        assert.equal(plan().length, 2);
        apply(plan());
        assert.deepEqual(plan(), []);
        const way = (to: string, from: string, iif: string) =>
          namespace.run(`ip -4 route get ${to} from ${from} iif ${iif} 2>&1 || true`).split("\n")[0] ?? "";
        for (const pod of ["10.80.0.1", "10.80.0.2", "10.80.0.3", "10.80.0.9"]) {
          assert.match(way(pod, "10.31.1.7", "liqo.A"), /via 169.254.18.1 dev liqo-tunnel/, `to ${pod}`);
          assert.match(way(pod, "10.31.2.7", "liqo.B"), /via 169.254.18.1 dev liqo-tunnel/, `to ${pod}`);
          assert.match(way("10.31.1.7", pod, "liqo-tunnel"), /via 10.80.0.1 dev liqo.A/, `from ${pod}`);
          assert.match(way("10.31.2.7", pod, "liqo-tunnel"), /via 10.80.0.2 dev liqo.B/, `from ${pod}`);
        }
      } finally {
        await namespace.close();
      }
    });
  }
});
