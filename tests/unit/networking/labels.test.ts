import assert from "node:assert/strict";
import {
  isFirewallOfGateway,
  isFirewallOfNode,
  isRouteOfGateway,
  isRouteOfNode,
  labelValue,
  objectName,
} from "../../../runtime/networking/labels";

describe("names of generated objects", () => {
  it("are cut where Kubernetes would not take them, and stay apart", () => {
    const long = "a".repeat(240);
    assert.equal(objectName("n1-gw-node"), "n1-gw-node");
    assert.equal(objectName(`${long}-service-nodeport-routing`).length, 253);
    assert.notEqual(
      objectName(`${long}-service-nodeport-routing`),
      objectName(`${long}-service-nodeport-routint`),
    );
    const label = labelValue(`${"b".repeat(51)}.${"c".repeat(30)}`);
    assert.match(label, /^b{51}-[0-9a-f]{10}$/);
    assert.equal(labelValue("b".repeat(63)), "b".repeat(63));
  });
});

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
