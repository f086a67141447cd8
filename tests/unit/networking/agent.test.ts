import assert from "node:assert/strict";

import type { InternalNode, RouteConfiguration } from "../../../runtime/api";
import { conditionPatch } from "../../../runtime/networking/agent/applied-condition";
import {
  isFirewallOfGateway,
  isFirewallOfNode,
  isRouteOfGateway,
  isRouteOfNode,
} from "../../../runtime/networking/labels";
import { overlayKind } from "../../../runtime/networking/agent/overlay-links";
import { forwardingFault, kernelFault } from "../../../runtime/networking/kernel/host-settings";
import { parseRoutes, parseRules } from "../../../runtime/networking/kernel/ip-listing";
import { leftoverRemoval } from "../../../runtime/networking/routes/route-plan";

const labelled = (of: "firewall" | "route", category?: string, subcategory?: string, unique?: string) => ({
  apiVersion: "networking.liqo.io/v1beta1",
  kind: of === "firewall" ? "FirewallConfiguration" : "RouteConfiguration",
  metadata: {
    name: "one",
    labels: Object.fromEntries(
      Object.entries({ category, subcategory, unique }).flatMap(([key, value]) =>
        value === undefined ? [] : [[`networking.liqo.io/${of}-${key}`, value]],
      ),
    ),
  },
});

describe("the configurations of an agent", () => {
  const gateway = { peer: "milan", node: "rome-1" };

  it("are, in a gateway, those for its peer, for its node and for all gateways", () => {
    const firewalls: [string | undefined, string | undefined, string | undefined, boolean][] = [
      ["gateway", undefined, "milan", true],
      ["gateway", undefined, "turin", false],
      ["gateway", undefined, undefined, false],
      ["gateway", "all-gateways", undefined, true],
      ["gateway", "fabric", undefined, true],
      ["gateway", "ip-mapping", undefined, true],
      ["fabric", "all-nodes", undefined, false],
      [undefined, undefined, "milan", false],
    ];
    for (const [category, subcategory, unique, expected] of firewalls) {
      const object = labelled("firewall", category, subcategory, unique);
      assert.equal(isFirewallOfGateway(object, gateway), expected, JSON.stringify(object.metadata.labels));
    }
    const routes: [string, string | undefined, string | undefined, boolean][] = [
      ["gateway", undefined, "milan", true],
      ["gateway", "fabric", undefined, true],
      ["gateway", "fabric-node", "rome-1", true],
      ["gateway", "fabric-node", "rome-2", false],
      // A node with the name of the peer.
      ["gateway", "fabric-node", "milan", false],
      ["fabric", undefined, undefined, false],
    ];
    for (const [category, subcategory, unique, expected] of routes) {
      const object = labelled("route", category, subcategory, unique);
      assert.equal(isRouteOfGateway(object, gateway), expected, JSON.stringify(object.metadata.labels));
    }
  });

  it("are, on a node, those for all nodes and for it alone", () => {
    assert.equal(isFirewallOfNode(labelled("firewall", "fabric", "all-nodes"), "rome-1"), true);
    assert.equal(isFirewallOfNode(labelled("firewall", "fabric", "ip-mapping"), "rome-1"), true);
    assert.equal(isFirewallOfNode(labelled("firewall", "fabric", "single-node", "rome-1"), "rome-1"), true);
    assert.equal(isFirewallOfNode(labelled("firewall", "fabric", "single-node", "rome-2"), "rome-1"), false);
    assert.equal(isFirewallOfNode(labelled("firewall", "gateway", "fabric"), "rome-1"), false);
    assert.equal(isRouteOfNode(labelled("route", "fabric")), true);
    assert.equal(isRouteOfNode(labelled("route", "gateway", "fabric")), false);
  });
});

describe("the condition of an agent", () => {
  const now = "2026-11-28T05:00:00Z";
  const entry = (host: string, status: "True" | "False") => ({ host, type: "Applied" as const, status });
  const object = (
    ...conditions: NonNullable<NonNullable<RouteConfiguration["status"]>["conditions"]>
  ): RouteConfiguration => ({
    apiVersion: "networking.liqo.io/v1beta1",
    kind: "RouteConfiguration",
    metadata: { name: "one", namespace: "liqo", uid: "u", resourceVersion: "7" },
    spec: { table: { name: "one", rules: [{ routes: [] }] } },
    ...(conditions.length > 0 && { status: { conditions } }),
  });
  const own = { ...entry("rome-1", "True"), lastTransitionTime: now };

  it("begins the list over the version that was read", () => {
    assert.deepEqual(conditionPatch(object(), "rome-1", true, now), {
      metadata: { uid: "u", resourceVersion: "7" },
      status: { conditions: [own] },
    });
  });

  it("joins the others, whatever they write at the same time", () => {
    assert.deepEqual(conditionPatch(object(entry("rome-2", "True")), "rome-1", true, now), [
      { op: "add", path: "/status/conditions/-", value: own },
    ]);
  });

  it("changes in its place, if that still is its own", () => {
    const present = object(entry("rome-2", "True"), entry("rome-1", "False"));
    assert.deepEqual(conditionPatch(present, "rome-1", true, now), [
      { op: "test", path: "/status/conditions/1/host", value: "rome-1" },
      { op: "replace", path: "/status/conditions/1", value: own },
    ]);
  });

  it("is not written again", () => {
    assert.equal(conditionPatch(object(entry("rome-1", "True")), "rome-1", true, now), undefined);
    assert.equal(conditionPatch(object(entry("rome-1", "False")), "rome-1", false, now), undefined);
  });

  it("is written again for another spec, and keeps the time of its last change", () => {
    const before = "2026-11-27T04:00:00Z";
    const present = object({ ...entry("rome-1", "True"), observedGeneration: 2, lastTransitionTime: before });
    present.metadata.generation = 3;
    assert.deepEqual(conditionPatch(present, "rome-1", true, now), [
      { op: "test", path: "/status/conditions/0/host", value: "rome-1" },
      {
        op: "replace",
        path: "/status/conditions/0",
        value: { ...entry("rome-1", "True"), observedGeneration: 3, lastTransitionTime: before },
      },
    ]);
    present.metadata.generation = 2;
    assert.equal(conditionPatch(present, "rome-1", true, now), undefined);
  });

  it("is there once, even where it was written twice", () => {
    const twice = object(entry("rome-1", "True"), entry("rome-2", "True"), entry("rome-1", "True"));
    assert.deepEqual(conditionPatch(twice, "rome-1", true, now), {
      metadata: { uid: "u", resourceVersion: "7" },
      status: { conditions: [entry("rome-2", "True"), own] },
    });
  });
});

describe("the encapsulation of the overlay", () => {
  const node = (overlay?: string): InternalNode => ({
    apiVersion: "networking.liqo.io/v1beta1",
    kind: "InternalNode",
    metadata: {
      name: "n",
      ...(overlay !== undefined && { annotations: { "networking.liqo.io/overlay": overlay } }),
    },
    spec: { interface: { gateway: { name: "liqo.a" }, node: { ip: "10.80.0.1" } } },
  });
  const cases: [(string | undefined)[], string | undefined][] = [
    [[], undefined],
    [[undefined], undefined],
    [["geneve", undefined], "geneve"],
    [["geneve", "vxlan"], "vxlan"],
    [["other"], undefined],
  ];
  for (const [said, expected] of cases) {
    it(`is ${expected ?? "not known"} where nodes say ${said.map((one) => one ?? "nothing").join(", ") || "nothing"}`, () => {
      assert.equal(overlayKind(said.map(node)), expected);
    });
  }
});

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

describe("what a host must be like", () => {
  it("is a kernel of some age", () => {
    assert.equal(kernelFault("5.10.0", "6.1.0-18-amd64"), undefined);
    assert.equal(kernelFault("5.10.0", "5.10.0"), undefined);
    assert.match(
      kernelFault("5.10.0", "5.9.16-generic") ?? "",
      /^the kernel is 5\.9\.16-generic, older than 5\.10\.0/,
    );
    assert.match(kernelFault("5.10.0", "4.18.0") ?? "", /4\.18\.0/);
  });

  it("is a namespace that forwards, and takes packets by whatever way they come", () => {
    const settings =
      (values: Record<string, string>) =>
      (path: string): string =>
        values[path] ?? "0";
    assert.equal(forwardingFault(settings({ "net/ipv4/ip_forward": "1" })), undefined);
    assert.match(forwardingFault(settings({})) ?? "", /^net\.ipv4\.ip_forward is 0/);
    const strict = { "net/ipv4/ip_forward": "1", "net/ipv4/conf/default/rp_filter": "1" };
    assert.match(forwardingFault(settings(strict)) ?? "", /rp_filter is 1/);
  });
});
