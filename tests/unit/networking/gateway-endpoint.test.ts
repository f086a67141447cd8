import assert from "node:assert/strict";

import type { Node, Pod, Service } from "../../../runtime/api";
import {
  gatewayNode,
  internalEndpoint,
  serverEndpoint,
} from "../../../runtime/networking/gateway/gateway-endpoint";

const service = (spec: Service["spec"], ingress: object[] = []): Service => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "gw-rome", namespace: "liqo-tenant-rome" },
  spec: { ports: [{ port: 51840, nodePort: 31840, protocol: "UDP" }], ...spec },
  status: { loadBalancer: { ingress } },
});
const node = (name: string, addresses: [string, string][], ready = "True", type?: string): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, ...(type !== undefined && { labels: { "liqo.io/type": type } }) },
  spec: {},
  status: {
    addresses: addresses.map(([kind, address]) => ({ type: kind, address })),
    conditions: [{ type: "Ready", status: ready }],
  },
});
const m1 = node("m1", [
  ["Hostname", "m1"],
  ["InternalIP", "172.19.0.2"],
]);
const m2 = node("m2", [
  ["InternalDNS", "m2.internal"],
  ["InternalIP", "172.19.0.3"],
  ["ExternalDNS", "m2.example"],
  ["ExternalIP", "203.0.113.9"],
]);

describe("where peers reach a server", () => {
  const cases: [string, Parameters<typeof serverEndpoint>, string | undefined][] = [
    ["a cluster address", [service({ clusterIP: "10.95.7.7" }), undefined, []], "10.95.7.7 51840 UDP"],
    ["no cluster address yet", [service({ clusterIP: "None" }), undefined, []], undefined],
    [
      "the gateway's node",
      [service({ type: "NodePort" }), "m2", [m1, m2]],
      "203.0.113.9,m2.example 31840 UDP",
    ],
    ["an inner address", [service({ type: "NodePort" }), "m1", [m1, m2]], "172.19.0.2 31840 UDP"],
    [
      "a name, where there is no more",
      [service({ type: "NodePort" }), "m3", [node("m3", [["Hostname", "m3"]])]],
      "m3 31840 UDP",
    ],
    [
      "another node while the gateway's is not ready",
      [service({ type: "NodePort" }), "m0", [m1, node("m0", [["InternalIP", "172.19.0.9"]], "False")]],
      "172.19.0.2 31840 UDP",
    ],
    ["told once the gateway has a node", [service({ type: "NodePort" }), undefined, [m1, m2]], undefined],
    [
      "the node that was told, after the gateway has moved",
      [service({ type: "NodePort" }), "m1", [m1, m2], { addresses: ["203.0.113.9"], port: 31840 }],
      "203.0.113.9,m2.example 31840 UDP",
    ],
    [
      "the gateway's node, once the one that was told is gone",
      [service({ type: "NodePort" }), "m1", [m1], { addresses: ["203.0.113.9"], port: 31840 }],
      "172.19.0.2 31840 UDP",
    ],
    [
      "the new port at the node that was told",
      [service({ type: "NodePort" }), "m2", [m1, m2], { addresses: ["172.19.0.2"], port: 31999 }],
      "172.19.0.2 31840 UDP",
    ],
    [
      "no virtual node",
      [
        service({ type: "NodePort" }),
        "m1",
        [node("a", [["InternalIP", "172.19.0.9"]], "True", "virtual-node"), m1],
      ],
      "172.19.0.2 31840 UDP",
    ],
    ["no node", [service({ type: "NodePort" }), "m1", []], undefined],
    [
      "no port yet",
      [service({ type: "NodePort", ports: [{ port: 51840, protocol: "UDP" }] }), "m1", [m1]],
      undefined,
    ],
    [
      "a load balancer, by address before name",
      [
        service({ type: "LoadBalancer" }, [{ hostname: "lb.example" }, { ip: "203.0.113.10" }]),
        undefined,
        [],
      ],
      "203.0.113.10,lb.example 51840 UDP",
    ],
    ["no load balancer yet", [service({ type: "LoadBalancer" }), undefined, []], undefined],
    ["no Service", [undefined, undefined, [m1]], undefined],
  ];
  for (const [what, args, expected] of cases) {
    it(`is ${what}`, () => {
      const endpoint = serverEndpoint(...args);
      assert.equal(
        endpoint && [endpoint.addresses?.join(), endpoint.port, endpoint.protocol].join(" "),
        expected,
      );
    });
  }

  it("is nowhere at a name of another cluster", () => {
    assert.throws(() => serverEndpoint(service({ type: "ExternalName" }), undefined, []), {
      message:
        "Service liqo-tenant-rome/gw-rome is of type ExternalName, at which no gateway can be reached; use LoadBalancer, NodePort or ClusterIP",
    });
  });
});

describe("where nodes reach a gateway", () => {
  const pod = (
    name: string,
    over: { ip?: string; active?: boolean; phase?: string; created?: string; deleted?: boolean } = {},
  ): Pod => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: "liqo-tenant-rome",
      creationTimestamp: over.created ?? "2026-05-04T12:00:00Z",
      labels: over.active === false ? {} : { "networking.liqo.io/active": "true" },
      ...(over.deleted === true && { deletionTimestamp: "2026-05-04T12:09:00Z" }),
    },
    spec: { containers: [], nodeName: `node of ${name}` },
    status: { phase: over.phase ?? "Running", podIP: over.ip ?? "10.42.2.5" },
  });

  it("is its active pod", () => {
    assert.deepEqual(internalEndpoint([pod("passive", { active: false, ip: "10.42.1.4" }), pod("active")]), {
      ip: "10.42.2.5",
      node: "node of active",
    });
    const none = [
      pod("a", { phase: "Pending" }),
      pod("b", { deleted: true }),
      pod("c", { ip: "" }),
      pod("d", { active: false }),
    ];
    assert.equal(internalEndpoint(none), undefined);
  });

  it("is on the node of a pod that does not run yet, and stays on that of the active one", () => {
    const pending = pod("pending", { phase: "Pending", active: false });
    assert.equal(gatewayNode([pod("gone", { deleted: true }), pending]), "node of pending");
    assert.equal(gatewayNode([pending, pod("running")]), "node of running");
    assert.equal(gatewayNode([]), undefined);
  });

  it("is the younger one while two are active", () => {
    const pods = [pod("old", { ip: "10.42.1.4" }), pod("young", { created: "2026-05-04T12:00:09Z" })];
    assert.equal(internalEndpoint(pods)?.node, "node of young");
  });
});
