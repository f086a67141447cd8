import assert from "node:assert/strict";

import type { InternalFabric, InternalNode, IP, Pod } from "../../../runtime/api";
import { fabricRoutes } from "../../../runtime/networking/generate/fabric-routes";
import { gatewayMasqueradeBypass } from "../../../runtime/networking/generate/gateway-masquerade-bypass";
import { ipMappingInGateways, ipMappingOnNodes } from "../../../runtime/networking/generate/ip-mapping";
import { masqueradeBypass } from "../../../runtime/networking/generate/masquerade-bypass";
import { labelValue, objectName } from "../../../runtime/networking/generate/metadata";
import { nodePortFirewall, nodePortRoute } from "../../../runtime/networking/generate/node-port-return";
import { externalRoutes, isRouted, podRoutes } from "../../../runtime/networking/generate/node-routes";
import {
  keyOfOverlayTunnel,
  overlayTunnel,
  overlayTunnelKey,
} from "../../../runtime/networking/generate/overlay-tunnels";
import { remapFirewalls } from "../../../runtime/networking/generate/remap-firewall";
import {
  gatewayWithoutTracking,
  nodesWithoutTracking,
  segmentSizeClamp,
} from "../../../runtime/networking/generate/static-firewalls";
import { tunnelRoutes } from "../../../runtime/networking/generate/tunnel-routes";
import { ip } from "../ipam/objects";
import { configuration } from "./configuration";
import { describedFirewall, describedRoutes } from "./described";

const node = (name: string, last: number): InternalNode => ({
  apiVersion: "networking.liqo.io/v1beta1",
  kind: "InternalNode",
  metadata: { name, uid: `uid of ${name}` },
  spec: { interface: { gateway: { name: `liqo.${name}` }, node: { ip: `10.80.0.${last}` } } },
});
const n1 = node("n1", 1);
const n2 = node("n2", 2);
const pod = (name: string, address: string, over: Partial<Pod> = {}): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "shop" },
  spec: { containers: [] },
  status: { phase: "Running", podIP: address },
  ...over,
});
const fabric = (over: Partial<InternalFabric["spec"]> = {}): InternalFabric => ({
  apiVersion: "networking.liqo.io/v1beta1",
  kind: "InternalFabric",
  metadata: { name: "milan", namespace: "liqo-tenant-milan", uid: "f" },
  spec: {
    mtu: 1340,
    gatewayIP: "10.42.2.5",
    interface: { node: { name: "liqo.A" }, gateway: { ip: "10.80.0.3" } },
    remoteCIDRs: ["10.71.0.0/16", "10.68.0.0/16"],
    ...over,
  },
});

describe("the firewalls of a Configuration", () => {
  it("translate in gateways what was remapped", () => {
    const [pods, external] = remapFirewalls(
      configuration({
        pod: [
          ["10.243.0.0/16", "10.71.0.0/16"],
          ["10.9.0.0/16", "10.9.0.0/16"],
          ["10.200.0.0/20", "172.18.64.0/20"],
        ],
      }),
    );
    assert.deepEqual(describedFirewall(pods), [
      "liqo-tenant-milan/milan-remap-podcidr table remap-podcidr",
      "firewall-category=gateway firewall-unique=milan",
      "owned by Configuration milan",
      "outgoing: nat prerouting -100",
      "  outgoing-10-71-0-0-16: dst 10.71.0.0/16 iif liqo.* dnat 10.243.0.0/16",
      "  outgoing-172-18-64-0-20: dst 172.18.64.0/20 iif liqo.* dnat 10.200.0.0/20",
      "incoming: nat postrouting 100",
      "  incoming-10-243-0-0-16: oif liqo.* src 10.243.0.0/16 iif liqo-tunnel snat 10.71.0.0/16",
      "  incoming-10-200-0-0-20: oif liqo.* src 10.200.0.0/20 iif liqo-tunnel snat 172.18.64.0/20",
    ]);
    assert.deepEqual(describedFirewall(external).slice(0, 5), [
      "liqo-tenant-milan/milan-remap-externalcidr table remap-externalcidr",
      "firewall-category=gateway firewall-unique=milan",
      "owned by Configuration milan",
      "outgoing: nat prerouting -100",
      "  outgoing-10-68-0-0-16: dst 10.68.0.0/16 iif liqo.* dnat 10.70.0.0/16",
    ]);
  });

  it("are empty in gateways where nothing was remapped", () => {
    const [pods] = remapFirewalls(configuration({ pod: [["10.243.7.0/16", "10.243.0.0/16"]] }));
    assert.deepEqual(describedFirewall(pods).slice(3), [
      "outgoing: nat prerouting -100",
      "incoming: nat postrouting 100",
    ]);
  });

  const local = { pod: ["10.42.0.0/16", "10.44.0.0/20"], external: ["10.60.0.0/16"] };
  const twoPods: [string, string][] = [
    ["10.243.0.0/16", "10.71.0.0/16"],
    ["10.9.0.0/16", "10.9.0.0/16"],
  ];

  it("keep the addresses of pods on nodes, and replace all others", () => {
    assert.deepEqual(describedFirewall(masqueradeBypass(configuration({ local, pod: twoPods }), false)), [
      "liqo-tenant-milan/milan-masquerade-bypass table milan-masquerade-bypass",
      "firewall-category=fabric firewall-subcategory=all-nodes",
      "owned by Configuration milan",
      "pre-postrouting: nat postrouting 99",
      "  podcidr-milan-10-42-0-0-16-10-71-0-0-16: dst 10.71.0.0/16 src 10.42.0.0/16 snat 10.42.0.0/16",
      "  podcidr-milan-10-42-0-0-16-10-9-0-0-16: dst 10.9.0.0/16 src 10.42.0.0/16 snat 10.42.0.0/16",
      "  podcidr-milan-10-44-0-0-20-10-71-0-0-16: dst 10.71.0.0/16 src 10.44.0.0/20 snat 10.44.0.0/20",
      "  podcidr-milan-10-44-0-0-20-10-9-0-0-16: dst 10.9.0.0/16 src 10.44.0.0/20 snat 10.44.0.0/20",
      "  service-nodeport-milan-10-71-0-0-16: dst 10.71.0.0/16 src !10.42.0.0/16 src !10.44.0.0/20 snat 10.60.0.0",
      "  service-nodeport-milan-10-9-0-0-16: dst 10.9.0.0/16 src !10.42.0.0/16 src !10.44.0.0/20 snat 10.60.0.0",
      "  podcidr-milan-ext-10-42-0-0-16: dst 10.68.0.0/16 src 10.42.0.0/16 snat 10.42.0.0/16",
      "  podcidr-milan-ext-10-44-0-0-20: dst 10.68.0.0/16 src 10.44.0.0/20 snat 10.44.0.0/20",
      "  service-nodeport-milan-ext: dst 10.68.0.0/16 src !10.42.0.0/16 src !10.44.0.0/20 snat 10.60.0.0",
    ]);
  });

  it("replace every address on nodes with full masquerading", () => {
    assert.deepEqual(describedFirewall(masqueradeBypass(configuration({ local }), true)).slice(3), [
      "pre-postrouting: nat postrouting 99",
      "  service-nodeport-milan-10-71-0-0-16: dst 10.71.0.0/16 snat 10.60.0.0",
      "  service-nodeport-milan-ext: dst 10.68.0.0/16 snat 10.60.0.0",
    ]);
  });

  it("wait for this cluster's networks", () => {
    assert.equal(masqueradeBypass(configuration({ local: { pod: [], external: [] } }), false), undefined);
  });
});

describe("the routes into a tunnel", () => {
  it("lead from each node's interface to the other end", () => {
    assert.deepEqual(describedRoutes(tunnelRoutes(configuration(), [n2, n1], "client")), [
      "liqo-tenant-milan/milan-gw-ext table milan",
      "route-category=gateway route-unique=milan",
      "owned by Configuration milan",
      "rule iif liqo.n1 to 10.243.0.0/16",
      "  10.243.0.0/16 via 169.254.18.1",
      "rule iif liqo.n1 to 10.70.0.0/16",
      "  10.70.0.0/16 via 169.254.18.1",
      "rule iif liqo.n2 to 10.243.0.0/16",
      "  10.243.0.0/16 via 169.254.18.1",
      "rule iif liqo.n2 to 10.70.0.0/16",
      "  10.70.0.0/16 via 169.254.18.1",
    ]);
    assert.match(
      describedRoutes(tunnelRoutes(configuration(), [n1], "server"))[4] ?? "",
      /via 169\.254\.18\.2$/,
    );
  });

  it("are none without nodes", () => assert.equal(tunnelRoutes(configuration(), [], "client"), undefined));
});

// Owned by their IP, where upstream leaves them without owner (14.3) and clears them by a finalizer.
describe("the firewalls of an IP", () => {
  const exported = (over: Partial<IP["spec"]> = {}) =>
    ip("api-server", { ip: "10.95.0.1", ...over }, { ip: "10.70.0.1", cidr: "10.70.0.0/16" });

  it("translate in gateways what comes from peers and goes to them", () => {
    assert.deepEqual(describedFirewall(ipMappingInGateways(exported())), [
      "liqo/api-server-remap-ipmapping-gw table api-server-remap-ipmapping-gw-liqo",
      "firewall-category=gateway firewall-subcategory=ip-mapping",
      "owned by IP api-server",
      "prerouting: nat prerouting -100",
      "  api-server: dst 10.70.0.1 iif liqo-tunnel dnat 10.95.0.1",
      "postrouting: nat postrouting 100",
      "  api-server: src 10.95.0.1 oif liqo-tunnel snat 10.70.0.1",
    ]);
  });

  it("masquerade on nodes what gateways send, where that is asked for", () => {
    assert.equal(ipMappingOnNodes(exported()), undefined);
    assert.deepEqual(describedFirewall(ipMappingOnNodes(exported({ masquerade: true }))), [
      "liqo/api-server-remap-ipmapping-fabric table api-server-remap-ipmapping-fabric-liqo",
      "firewall-category=fabric firewall-subcategory=ip-mapping",
      "owned by IP api-server",
      "prerouting: nat prerouting -100",
      "  api-server: dst 10.70.0.1 dnat 10.95.0.1",
      "postrouting: nat postrouting 99",
      "  api-server: dst 10.95.0.1 iif liqo.* masquerade",
    ]);
  });

  it("are none while it has no address", () => {
    const waiting = ip("api-server", { ip: "10.95.0.1", masquerade: true });
    assert.deepEqual([ipMappingInGateways(waiting), ipMappingOnNodes(waiting)], [undefined, undefined]);
  });
});

describe("the way back to nodes", () => {
  const marked = [
    { node: n2, mark: 1 },
    { node: n1, mark: 4 },
  ];
  it("is told by marks on connections", () => {
    assert.deepEqual(describedFirewall(nodePortFirewall(marked, "10.60.0.0", "liqo")), [
      "liqo/service-nodeport-routing table service-nodeport-routing",
      "firewall-category=gateway firewall-subcategory=fabric",
      "mark-to-conntrack: filter forward 0",
      "  n1: src 10.60.0.0 iif liqo.n1 ctmark 4",
      "  n2: src 10.60.0.0 iif liqo.n2 ctmark 1",
      "conntrack-mark-to-meta-mark: filter prerouting 0",
      "  conntrack-mark-to-meta-mark: dst 10.60.0.0 iif liqo-tunnel metamarkfromctmark",
    ]);
    assert.equal(nodePortFirewall([], "10.60.0.0", "liqo"), undefined);
  });
  it("follows the mark", () => {
    assert.deepEqual(describedRoutes(nodePortRoute({ node: n2, mark: 1 }, "10.60.0.0", "liqo")), [
      "liqo/n2-service-nodeport-routing table n2-service-nodeport-routing",
      "route-category=gateway route-subcategory=fabric",
      "owned by InternalNode n2",
      "rule fwmark 1 to 10.60.0.0/32",
      "  10.60.0.0/32 via 10.80.0.2 dev liqo.n2",
    ]);
  });
});

describe("the routes of a node in gateways", () => {
  it("lead to networks of other peers and to exported addresses", () => {
    const given = (address: string) => ({ ip: address, cidr: "10.60.0.0/16" });
    const configurations = [
      configuration(),
      configuration({ name: "turin", pod: [["10.9.0.0/16", "10.9.0.0/16"]] }),
      configuration({ name: "bari", configured: false, pod: [["10.5.0.0/16", "10.5.0.0/16"]] }),
    ];
    const ips = [
      ip("api-server", { ip: "10.43.0.1" }, given("10.60.0.1")),
      ip("same", { ip: "10.43.0.1" }, given("10.60.0.2")),
      ip("registry", { ip: "10.3.0.7" }, given("10.60.0.3")),
      ip("pod-at-milan", { ip: "10.71.1.20" }, given("10.60.0.4")),
      ip("waiting", { ip: "10.3.0.8" }),
    ];
    assert.deepEqual(describedRoutes(externalRoutes(n2, configurations, ips, "liqo")), [
      "liqo/n2-extcidr table n2-extcidr",
      "route-category=gateway route-subcategory=fabric-node route-unique=n2",
      "owned by InternalNode n2",
      "rule iif liqo-tunnel to 10.71.0.0/16",
      "  10.71.0.0/16 via 10.80.0.2 dev liqo.n2",
      "rule iif liqo-tunnel to 10.9.0.0/16",
      "  10.9.0.0/16 via 10.80.0.2 dev liqo.n2",
      "rule iif liqo-tunnel",
      "  10.3.0.7/32 via 10.80.0.2 dev liqo.n2",
      "  10.43.0.1/32 via 10.80.0.2 dev liqo.n2",
    ]);
    assert.deepEqual(describedRoutes(externalRoutes(n1, [], [], "liqo")).slice(3), ["rule iif liqo-tunnel"]);
  });

  it("lead to the node, and through it to its pods", () => {
    const ended: Pod["status"] = { phase: "Succeeded", podIP: "10.42.1.12" };
    const pods = [
      pod("b", "10.42.1.20"),
      pod("a", "10.42.1.10"),
      pod("host", "172.18.0.2", { spec: { containers: [], hostNetwork: true } }),
      pod("done", "10.42.1.12", { status: ended }),
      pod("offloaded", "10.71.1.3", {
        metadata: { name: "offloaded", namespace: "shop", labels: { "liqo.io/shadowPod": "true" } },
      }),
      pod("pending", "", { status: { phase: "Pending" } }),
      pod("v6", "fd00::7", {
        status: { phase: "Running", podIP: "fd00::7", podIPs: [{ ip: "fd00::7" }, { ip: "10.42.1.30" }] },
      }),
    ];
    const routes = podRoutes(n1, pods, "liqo");
    assert.deepEqual(describedRoutes(routes), [
      "liqo/n1-gw-node table n1",
      "route-category=gateway route-subcategory=fabric",
      "owned by InternalNode n1",
      "rule to 10.80.0.1/32",
      "  10.80.0.1/32 dev liqo.n1 scope link",
      "rule iif liqo-tunnel",
      "  10.42.1.10/32 via 10.80.0.1",
      "  10.42.1.20/32 via 10.80.0.1",
      "  10.42.1.30/32 via 10.80.0.1",
    ]);
    assert.deepEqual(routes.spec.table.rules[1]?.routes[0]?.targetRef, {
      kind: "Pod",
      namespace: "shop",
      name: "a",
    });
    assert.deepEqual(pods.map(isRouted), [true, true, false, false, false, false, true]);
  });

  it("lead to the pod that has an address now", () => {
    const at = (name: string, creationTimestamp: string, deletionTimestamp?: string) =>
      pod(name, "10.42.1.10", {
        metadata: {
          name,
          namespace: "shop",
          creationTimestamp,
          ...(deletionTimestamp && { deletionTimestamp }),
        },
      });
    const target = (...pods: Pod[]) =>
      podRoutes(n1, pods, "liqo").spec.table.rules[1]?.routes.map((route) => route.targetRef?.name);
    const old = at("old", "2026-05-04T12:00:00Z");
    const young = at("young", "2026-05-04T12:00:09Z");
    assert.deepEqual(target(old, young), ["young"]);
    assert.deepEqual(target(young, old), ["young"]);
    assert.deepEqual(target(old, at("young", "2026-05-04T12:00:09Z", "2026-05-04T12:01:00Z")), ["old"]);
  });
});

describe("the routes of a gateway on nodes", () => {
  it("lead to the gateway, and through it to the peer's networks", () => {
    assert.deepEqual(describedRoutes(fabricRoutes(fabric(), 0)), [
      "liqo-tenant-milan/milan-node-gw table milan-node-gw",
      "route-category=fabric",
      "owned by InternalFabric milan",
      "rule to 10.80.0.3/32",
      "  10.80.0.3/32 dev liqo.A scope link",
      "rule to 10.68.0.0/16",
      "  10.68.0.0/16 via 10.80.0.3",
      "rule to 10.71.0.0/16",
      "  10.71.0.0/16 via 10.80.0.3",
    ]);
  });
  it("have the priority that was asked for", () => {
    const rules = fabricRoutes(fabric({ remoteCIDRs: ["10.71.0.0/16", "10.71.0.0/16"] }), 120).spec.table
      .rules;
    assert.deepEqual(
      rules.map(({ priority }) => priority),
      [120, 120],
    );
  });
});

describe("the tunnels of the overlay", () => {
  it("are between one node and one gateway", () => {
    const tunnel = overlayTunnel(fabric(), n1, 3);
    assert.equal(tunnel.metadata.name, "milan-n1");
    assert.deepEqual(tunnel.metadata.labels, {
      "networking.liqo.io/internal-fabric-name": "milan",
      "networking.liqo.io/internal-node-name": "n1",
    });
    assert.equal(overlayTunnelKey(fabric(), n1), keyOfOverlayTunnel({ ...tunnel, metadata: { name: "x" } }));
  });
});

describe("firewalls that options ask for", () => {
  it("keep the address of gateways on a node", () => {
    const gateways = [
      pod("gw-turin", "10.42.2.9"),
      pod("gw-milan", "10.42.2.5"),
      pod("gw-new", "", { status: {} }),
    ];
    const generated = gatewayMasqueradeBypass(n2, gateways, 6091, "liqo");
    assert.deepEqual(describedFirewall(generated), [
      "liqo/n2-gw-masquerade-bypass table n2-gw-masquerade-bypass",
      "firewall-category=fabric firewall-subcategory=single-node firewall-unique=n2 gateway-masquerade-bypass=true",
      "owned by InternalNode n2",
      "pre-postrouting: nat postrouting 99",
      "  shop/gw-milan: src 10.42.2.5 udp dport 6091 snat 10.42.2.5",
      "  shop/gw-turin: src 10.42.2.9 udp dport 6091 snat 10.42.2.9",
    ]);
    assert.equal(gatewayMasqueradeBypass(n2, [], 6091, "liqo"), undefined);
  });

  it("clamp segments", () => {
    assert.deepEqual(describedFirewall(segmentSizeClamp(0, "liqo-system")), [
      "liqo-system/gw-mss-clamping table mss-clamping",
      "firewall-category=gateway firewall-subcategory=all-gateways liqo.io/webhook-skip=true",
      "mss-clamping: filter forward 0",
      "  mss-clamping-out: tcp oif liqo-tunnel tcpmssclamp 0",
      "  mss-clamping-in: tcp iif liqo-tunnel tcpmssclamp 0",
    ]);
  });

  it("track in gateways what may be translated alone", () => {
    assert.deepEqual(describedFirewall(gatewayWithoutTracking("liqo")), [
      "liqo/gw-notrack table liqo-notrack-geneve",
      "firewall-category=gateway firewall-subcategory=all-gateways liqo.io/webhook-skip=true",
      "prerouting: filter prerouting -300",
      "  notrack-outer: iif !liqo.* iif !liqo-tunnel notrack",
      "output: filter output -300",
      "  notrack-outer: oif !liqo.* oif !liqo-tunnel notrack",
    ]);
  });

  it("leave the overlay untracked on nodes", () => {
    assert.deepEqual(describedFirewall(nodesWithoutTracking(6091, "liqo")), [
      "liqo/fabric-notrack table liqo-notrack-geneve",
      "firewall-category=fabric firewall-subcategory=all-nodes liqo.io/webhook-skip=true",
      "prerouting: filter prerouting -300",
      "  notrack-geneve-dport: udp dport 6091 notrack",
      "  notrack-geneve-sport: udp sport 6091 notrack",
      "output: filter output -300",
      "  notrack-geneve-dport: udp dport 6091 notrack",
      "  notrack-geneve-sport: udp sport 6091 notrack",
    ]);
  });
});

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
