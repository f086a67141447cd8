import assert from "node:assert/strict";

import type { Pod } from "../../../runtime/api";
import {
  fabricRoutes,
  keyOfOverlayTunnel,
  overlayTunnel,
  overlayTunnelKey,
} from "../../../runtime/networking/fabric/internal-fabric-controller";
import { nodePortFirewall, nodePortRoute } from "../../../runtime/networking/fabric/node-port-return";
import { externalRoutes } from "../../../runtime/networking/fabric/node-routes-controller";
import { isRouted, podRoutes } from "../../../runtime/networking/fabric/pod-routes";
import { tunnelRoutes } from "../../../runtime/networking/configuration/configuration-rules";
import { ip } from "../ipam/objects";
import { configuration, fabric, n1, n2, pod } from "./objects";
import { describedFirewall, describedRoutes } from "./described";

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
