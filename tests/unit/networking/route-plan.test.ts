import assert from "node:assert/strict";

import { refusedLines } from "../../../runtime/networking/kernel/kernel";

import {
  type RouteRule,
  type RouteTable,
  routeTableFaults,
} from "../../../runtime/networking/routes/validation";
import { parseRoutes, parseRules } from "../../../runtime/networking/kernel/ip-listing";
import {
  leftoverRemoval,
  routeTablePlan,
  routeTableRemoval,
} from "../../../runtime/networking/routes/route-plan";
import { routeTableId, tableNames } from "../../../runtime/networking/routes/table-id";
import { canUse, Namespace } from "./namespace";

const table = (...rules: RouteRule[]): RouteTable => ({ name: "cl02-node-gw", rules });
const ID = 1552760092;

/** A gateway seen from a node: its overlay address, and what lies behind it. */
const fabric = (gateway = "10.80.0.3", dev = "liqo.A", cidr = "10.71.0.0/16") =>
  table(
    { dst: `${gateway}/32`, routes: [{ dst: `${gateway}/32`, dev, scope: "link" }] },
    { dst: cidr, routes: [{ dst: cidr, gw: gateway }] },
  );
const nothing = { rules: [], routes: [] };

describe("the number of a routing table", () => {
  const vectors: [string, number][] = [
    ["cl01", 1033338346],
    ["cl02", 465802138],
    ["cl02-node-gw", 1552760092],
    ["node1", 234034122],
    ["node1-extcidr", 1091525978],
    ["node1-service-nodeport-routing", 1076631390],
  ];
  for (const [name, id] of vectors) it(`is ${id} for ${name}`, () => assert.equal(routeTableId(name), id));
});

describe("the plan of a routing table", () => {
  it("adds a next hop before what goes through it", () => {
    assert.deepEqual(routeTablePlan(fabric(), nothing), [
      `rule add from all to 10.80.0.3/32 lookup ${ID} protocol 149`,
      `route replace 10.80.0.3/32 dev liqo.A scope link table ${ID} proto 149`,
      `rule add from all to 10.71.0.0/16 lookup ${ID} protocol 149`,
      `route replace 10.71.0.0/16 via 10.80.0.3 table ${ID} proto 149`,
    ]);
  });

  it("writes every field", () => {
    const rule = {
      src: "10.1.0.0/16",
      dst: "10.70.0.0/32",
      iif: "liqo-tunnel",
      oif: "liqo.A",
      fwmark: 7,
      priority: 120,
    };
    const route = { dst: "10.70.0.0/32", gw: "10.80.0.1", dev: "liqo.A", src: "10.80.0.3", onlink: true };
    assert.deepEqual(routeTablePlan(table({ ...rule, routes: [route] }), nothing), [
      `rule add from 10.1.0.0/16 to 10.70.0.0/32 iif liqo-tunnel oif liqo.A fwmark 7 priority 120 lookup ${ID} protocol 149`,
      `route replace 10.70.0.0/32 via 10.80.0.1 dev liqo.A src 10.80.0.3 onlink table ${ID} proto 149`,
    ]);
  });

  it("adds a route once, under however many rules it stands", () => {
    const route = { dst: "10.243.0.0/16", gw: "169.254.18.1" };
    const rules = ["liqo.N1", "liqo.N2"].map((iif) => ({ iif, dst: route.dst, routes: [route] }));
    assert.equal(
      routeTablePlan(table(...rules), nothing).filter((line) => line.startsWith("route")).length,
      1,
    );
  });

  it("leaves the rules of others alone, and removes from its table what is not wanted", () => {
    const rules = parseRules(
      JSON.stringify([
        { priority: 0, src: "all", table: "255" },
        { priority: 118, src: "all", fwmark: "0x1", fwmask: "0xff", table: String(ID) },
        {
          priority: 119,
          src: "all",
          dst: "10.9.0.0",
          dstlen: 16,
          iif: "gone",
          iif_detached: null,
          table: String(ID),
        },
        { priority: 120, src: "10.1.0.0", srclen: 16, dst: "10.71.0.0", dstlen: 16, table: "52" },
      ]),
    );
    const routes = parseRoutes(
      JSON.stringify([
        { dst: "default", gateway: "172.18.0.9", dev: "eth0", flags: [] },
        { type: "6", dst: "10.74.0.0/16", flags: [] },
        { dst: "10.80.0.3", dev: "liqo.A", scope: "253", flags: [] },
        { dst: "10.71.0.0/16", gateway: "10.80.0.3", dev: "liqo.A", metric: 20, flags: [] },
      ]),
    );
    assert.deepEqual(routeTablePlan(fabric(), { rules, routes }), [
      `rule add from all to 10.80.0.3/32 lookup ${ID} protocol 149`,
      `rule add from all to 10.71.0.0/16 lookup ${ID} protocol 149`,
      `route replace 10.71.0.0/16 via 10.80.0.3 table ${ID} proto 149`,
      `rule del priority 118 lookup ${ID}`,
      `rule del priority 119 to 10.9.0.0/16 iif gone lookup ${ID}`,
      `route del 0.0.0.0/0 table ${ID}`,
      `route del 10.74.0.0/16 table ${ID}`,
      `route del 10.71.0.0/16 metric 20 table ${ID}`,
    ]);
  });

  it("is not made of a table with faults", () => {
    assert.throws(() => routeTablePlan(table({ dst: "10.1.0.0", routes: [] }), nothing), {
      message: /^the table cannot be set up: table\.rules\.0\.dst "10\.1\.0\.0" is not a CIDR/,
    });
  });
});

describe("what ip says of a batch", () => {
  it("is told line by line, with whether it may pass", () => {
    const lines = ["route replace a", "rule add b", "route replace c", "route replace d"];
    const output =
      'Error: Nexthop has invalid gateway.\nCommand failed -:1\nCannot find device "nope"\nCommand failed -:3\nRTNETLINK answers: Operation not permitted\nCommand failed -:4\n';
    assert.deepEqual(refusedLines(lines, output), [
      { line: "route replace a", message: "Error: Nexthop has invalid gateway.", mayPass: true },
      { line: "route replace c", message: 'Cannot find device "nope"', mayPass: true },
      { line: "route replace d", message: "RTNETLINK answers: Operation not permitted", mayPass: false },
    ]);
    assert.deepEqual(refusedLines(lines, ""), []);
  });
});

describe("faults of a routing table", () => {
  const route = { dst: "10.1.0.0/16", gw: "10.80.0.3" };
  const rule = (over: object = {}, routes: object[] = [route]) =>
    table({ dst: "10.1.0.0/16", ...over, routes: routes.map((one) => ({ ...route, ...one })) });
  it("are none in what is generated", () => {
    assert.deepEqual(routeTableFaults(fabric()), []);
    assert.deepEqual(routeTableFaults(rule({}, [])), []);
  });
  const faulty: [string, RouteTable, RegExp][] = [
    ["a name of two words", { ...rule(), name: "a b" }, /^table\.name "a b" is empty or has spaces/],
    ["no network", rule({ src: "10.1.0.0" }), /rules\.0\.src "10\.1\.0\.0" is not a CIDR/],
    ["IPv6", rule({ dst: "fd00::/8" }), /rules\.0\.dst "fd00::\/8" is an IPv6 network/],
    [
      "a command in an interface",
      rule({ iif: "a lookup 1" }),
      /rules\.0\.iif "a lookup 1" is no name of an interface/,
    ],
    ["a comment in an interface", rule({ oif: "a#" }), /rules\.0\.oif "a#" is no name of an interface/],
    ["a huge mark", rule({ fwmark: 2 ** 32 }), /fwmark 4294967296 is no mark/],
    [
      "a priority behind the system's",
      rule({ priority: 32766 }),
      /priority 32766 is not between 1 and 32765/,
    ],
    ["no next hop", rule({}, [{ gw: undefined }]), /routes\.0\.gw is missing, and so is dev/],
    [
      "a bad next hop",
      rule({}, [{ gw: "10.0.0.0/8" }]),
      /routes\.0\.gw "10\.0\.0\.0\/8" is not an IPv4 address/,
    ],
    [
      "a destination twice",
      rule({}, [{}, {}]),
      /routes\.1 is another route to 10\.1\.0\.0\/16, beside table\.rules\.0\.routes\.0/,
    ],
    [
      "two ways to a destination",
      table({ iif: "a", routes: [route] }, { iif: "b", routes: [{ ...route, gw: "10.80.0.4" }] }),
      /table\.rules\.1\.routes\.0 is another route to 10\.1\.0\.0\/16, beside table\.rules\.0\.routes\.0; keep one of them$/,
    ],
    [
      "the same rule twice",
      table({ iif: "a", routes: [] }, { iif: "a", priority: 3, routes: [] }),
      /rules\.1 matches the same as table\.rules\.0; merge them$/,
    ],
  ];
  for (const [what, wanted, expected] of faulty) {
    it(`name ${what}`, () => {
      const faults = routeTableFaults(wanted);
      assert.equal(faults.length, 1, faults.join("\n"));
      assert.match(faults[0] ?? "", expected);
    });
  }
});

describe("the file of table names", () => {
  it("has a line for each table, in the same order always", () => {
    const text = `${ID}\tcl02-node-gw\n234034122\tnode1\n`;
    assert.equal(tableNames(["node1", "cl02-node-gw", "node1"]), text);
    assert.equal(tableNames(["cl02-node-gw", "node1"]), text);
    assert.equal(tableNames([]), "");
  });
});

if (canUse("ip")) {
  describe("a routing table in the kernel", function () {
    this.timeout(180_000);
    let namespace: Namespace;
    beforeEach(async () => {
      namespace = await Namespace.open();
      namespace.run(`
        ip link set lo up
        ip link add liqo.A type veth peer name eth0
        ip address add 10.80.0.1/32 dev liqo.A
        ip address add 172.18.0.2/24 dev eth0
        ip link set liqo.A up
        ip link set eth0 up`);
    });
    afterEach(() => namespace.close());

    const observed = () => ({
      rules: parseRules(namespace.run("ip -4 -j -N rule show")),
      routes: parseRoutes(namespace.run(`ip -4 -j -N route show table ${ID} 2>/dev/null || true`)),
    });
    const apply = (lines: string[]) =>
      refusedLines(lines, namespace.run("ip -4 -force -batch - 2>&1 || true", lines.join("\n")));
    const bring = (wanted: RouteTable) => {
      assert.deepEqual(apply(routeTablePlan(wanted, observed())), []);
      assert.deepEqual(routeTablePlan(wanted, observed()), [], "a second plan has nothing to do");
    };
    const others = () => namespace.run(`ip rule show | grep -v 'lookup ${ID}'; ip route show`);

    it("is set up in one go, and then stays as it is", () => {
      const before = others();
      bring(fabric());
      assert.equal(
        namespace
          .run("ip route get 10.71.1.20")
          .trim()
          .split("\n")[0]
          ?.replace(/ uid.*/, "")
          .trim(),
        `10.71.1.20 via 10.80.0.3 dev liqo.A table ${ID} src 10.80.0.1`,
      );
      assert.equal(others(), before);
    });

    it("holds rules and routes with every field", () => {
      bring(
        table(
          { dst: "10.80.0.3/32", routes: [{ dst: "10.80.0.3/32", dev: "liqo.A", scope: "link" }] },
          {
            src: "10.1.0.0/16",
            dst: "10.70.0.0/32",
            iif: "liqo-tunnel",
            oif: "liqo.A",
            fwmark: 7,
            priority: 120,
            routes: [{ dst: "10.70.0.0/32", gw: "10.80.0.3", dev: "liqo.A", src: "10.80.0.1", onlink: true }],
          },
          { fwmark: 0x80000001, routes: [] },
          { iif: "liqo-tunnel", routes: [{ dst: "0.0.0.0/0", gw: "172.18.0.9" }] },
        ),
      );
    });

    it("follows every change, and takes back what was added by hand", () => {
      bring(fabric());
      bring(fabric("10.80.0.3", "liqo.A", "10.72.0.0/16"));
      bring(fabric("10.80.0.4", "eth0", "10.72.0.0/16"));
      namespace.run(`
        ip route add blackhole 10.74.0.0/16 table ${ID}
        ip route add 10.72.0.0/16 via 172.18.0.8 metric 9 table ${ID}
        ip route add 10.73.0.0/16 table ${ID} nexthop via 172.18.0.3 nexthop via 172.18.0.4
        ip rule add fwmark 0x1/0xff lookup ${ID}
        ip rule add to 10.72.0.0/16 lookup ${ID}`);
      bring(fabric("10.80.0.4", "eth0", "10.72.0.0/16"));
      bring(table({ fwmark: 3, priority: 77, routes: [] }));
      bring(table({ fwmark: 3, priority: 78, routes: [] }));
    });

    it("waits for a link, and goes on when it is there", () => {
      const wanted = fabric("10.80.0.9", "liqo.B");
      const refused = apply(routeTablePlan(wanted, observed()));
      assert.deepEqual(
        refused.map(({ mayPass }) => mayPass),
        [true, true],
      );
      namespace.run("ip link add liqo.B type veth peer name far && ip link set liqo.B up");
      bring(wanted);
    });

    it("is removed without a trace", () => {
      const before = others();
      bring(fabric());
      assert.deepEqual(apply(routeTableRemoval("cl02-node-gw", observed())), []);
      assert.deepEqual(routeTableRemoval("cl02-node-gw", observed()), []);
      assert.equal(others(), before);
    });
  });
}

describe("what is left of tables that nobody wants", () => {
  it("is removed by its protocol number, and nothing else is", () => {
    const rules = parseRules(
      JSON.stringify([
        { priority: 0, src: "all", table: "255" },
        { priority: 100, src: "all", iif: "liqo-tunnel", table: "7000", protocol: "149" },
        { priority: 101, src: "all", dst: "10.71.0.0", dstlen: 16, table: "8000", protocol: "149" },
        { priority: 102, src: "all", fwmark: "0x5", table: "9000", protocol: "3" },
      ]),
    );
    const routes = parseRoutes(
      JSON.stringify([
        {
          dst: "10.71.0.0/16",
          gateway: "10.80.0.3",
          dev: "liqo.a",
          table: "7000",
          protocol: "149",
          flags: [],
        },
        {
          dst: "10.72.0.0/16",
          gateway: "10.80.0.3",
          dev: "liqo.a",
          table: "8000",
          protocol: "149",
          flags: [],
        },
        { dst: "default", gateway: "172.18.0.1", dev: "eth0", table: "254", protocol: "3", flags: [] },
      ]),
    );
    assert.deepEqual(leftoverRemoval(new Set([8000]), { rules, routes }), [
      "rule del priority 100 iif liqo-tunnel lookup 7000",
      "route del 10.71.0.0/16 table 7000 proto 149",
    ]);
  });
});
