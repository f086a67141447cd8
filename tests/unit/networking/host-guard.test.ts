import assert from "node:assert/strict";

import type { FirewallConfiguration, InternalFabric, RouteConfiguration } from "../../../runtime/api";
import { freeHost } from "../../../runtime/fabric/removal";
import { HostGuard } from "../../../runtime/networking/agent/host-guard";
import { fabricRoutes } from "../../../runtime/networking/fabric/internal-fabric-controller";
import { masqueradeBypass } from "../../../runtime/networking/configuration/configuration-rules";
import type { ObservedLink, ObservedRoute } from "../../../runtime/networking/kernel/ip-listing";
import { configuration } from "./objects";

const link = (name: string, address: string, over: Partial<ObservedLink> = {}): ObservedLink => ({
  name,
  up: true,
  arp: true,
  mtu: 1500,
  addresses: [address],
  ...over,
});
const route = (dst: string, gw: string, table?: string): ObservedRoute => ({
  dst,
  gw,
  scope: "global",
  onlink: false,
  metric: 0,
  foreign: false,
  ...(table !== undefined && { table }),
});
const links = [
  link("eth0", "172.18.0.2/16"),
  link("docker0", "172.17.0.1/16", { noCarrier: true }),
  link("liqo.abcdefghij", "10.80.0.1/32", { kind: "geneve" }),
];
const routes = [route("0.0.0.0/0", "192.168.7.1"), route("0.0.0.0/0", "192.168.8.1", "4242")];

describe("what keeps a node its own addresses", () => {
  let changes: number;
  let guard: HostGuard;
  beforeEach(() => {
    changes = 0;
    guard = new HostGuard(
      { links: () => Promise.resolve(links), routes: () => Promise.resolve(routes) },
      () => ["10.95.0.1", "172.18.0.9"],
      () => (changes += 1),
    );
  });

  const ranges: [range: string, conflict: string | undefined][] = [
    ["172.18.0.0/16", "172.18.0.0/16 holds 172.18.0.2, an address of this node"],
    ["192.168.0.0/16", "192.168.0.0/16 holds 192.168.7.1, the default gateway of this node"],
    ["172.18.0.8/29", "172.18.0.8/29 holds 172.18.0.9, an address of the API server"],
    ["10.95.0.0/24", "10.95.0.0/24 holds 10.95.0.1, an address of the API server"],
    ["10.71.0.0/16", undefined],
    ["192.168.8.0/24", undefined],
    // A bridge that nobody is at, and the overlay, are not what a node is reached by.
    ["172.17.0.0/16", undefined],
    ["10.80.0.0/16", undefined],
    ["no range", undefined],
  ];
  for (const [range, expected] of ranges) {
    it(`finds ${expected === undefined ? "nothing" : "what is its own"} in ${range}`, async () => {
      await guard.look();
      assert.equal(guard.conflictWith(range), expected);
    });
  }

  it("knows its default gateways once it has looked, and tells of other ones", async () => {
    assert.equal(guard.defaultGateways, undefined);
    await guard.look();
    assert.deepEqual(guard.defaultGateways, ["192.168.7.1"]);
    guard.see(links, routes);
    assert.equal(changes, 0);
    guard.see(links, [route("0.0.0.0/0", "172.18.0.1")]);
    assert.equal(changes, 1);
  });

  const fabric: InternalFabric = {
    apiVersion: "networking.liqo.io/v1beta1",
    kind: "InternalFabric",
    metadata: { name: "milan", namespace: "liqo-tenant-milan", uid: "u" },
    spec: {
      gatewayIP: "10.42.0.9",
      remoteCIDRs: ["10.68.0.0/16", "172.18.0.0/16"],
      interface: { node: { name: "liqo.abcdefghij" }, gateway: { ip: "10.80.0.2" } },
    },
  };

  it("leaves out the route over them, and says so, and keeps the others", async () => {
    await guard.look();
    const asked: RouteConfiguration = fabricRoutes(fabric, 0);
    const { object, fault } = guard.routes(asked);
    assert.deepEqual(
      object.spec.table.rules.map(({ dst }) => dst),
      ["10.80.0.2/32", "10.68.0.0/16"],
    );
    assert.match(
      fault?.message ?? "",
      /^172\.18\.0\.0\/16 holds 172\.18\.0\.2, an address of this node, so nothing is sent there from this node; delete the peer's Network/,
    );
    assert.equal(guard.routes({ ...asked, metadata: { name: "an administrator's" } }).fault, undefined);
  });

  it("leaves out the translation towards them", async () => {
    await guard.look();
    const asked = masqueradeBypass(configuration({ pod: [["10.243.0.0/16", "172.18.0.0/16"]] }), false);
    assert.ok(asked);
    const { object, fault } = guard.tables(asked);
    const names = ({ spec }: FirewallConfiguration) =>
      spec.table.chains?.flatMap(({ rules }) => (rules.natRules ?? []).map(({ name }) => name));
    assert.equal(names(asked)?.length, 4);
    assert.deepEqual(names(object), ["podcidr-milan-ext-10-42-0-0-16", "service-nodeport-milan-ext"]);
    assert.match(fault?.message ?? "", /^172\.18\.0\.0\/16 holds 172\.18\.0\.2/);
    assert.equal(guard.tables({ ...asked, metadata: { name: "an administrator's" } }).fault, undefined);
  });

  it("leaves everything as it is where nothing is its own", async () => {
    await guard.look();
    const asked = masqueradeBypass(configuration(), false);
    assert.ok(asked);
    assert.equal(guard.tables(asked).object, asked);
  });

  const rules: [what: string, dst: string | undefined, protocol: number | undefined, removed: boolean][] = [
    ["a rule of ours over the node", "172.18.0.0/16", 149, true],
    ["a rule of ours over the router", "192.168.7.0/24", 149, true],
    ["a rule of ours to a peer", "10.71.0.0/16", 149, false],
    ["a rule of ours to nowhere in particular", undefined, 149, false],
    ["a rule of others over the node", "172.18.0.0/16", undefined, false],
  ];
  for (const [what, dst, protocol, removed] of rules) {
    it(`${removed ? "frees" : "leaves"} a host at the start of its agent that has ${what}`, async () => {
      const rule = {
        priority: 100,
        table: "4242",
        foreign: false,
        ...(dst !== undefined && { dst }),
        ...(protocol !== undefined && { protocol }),
      };
      let removals = 0;
      const warnings: unknown[] = [];
      await freeHost(
        { rules: () => Promise.resolve([rule]) },
        guard,
        { warn: (...words) => void warnings.push(words) },
        () => Promise.resolve(void (removals += 1)),
      );
      assert.deepEqual([removals, warnings.length], removed ? [1, 1] : [0, 0]);
    });
  }
});
