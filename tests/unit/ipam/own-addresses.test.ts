import assert from "node:assert/strict";

import type { Configuration, EndpointSlice, InternalNode, IP, Node, Service } from "../../../runtime/api";
import { formatCidr, parseCidr } from "../../../runtime/ipam/cidr";
import { Ipam } from "../../../runtime/ipam/ipam";
import {
  conflictOf,
  describeConflict,
  ownAddresses,
  type OwnRange,
  serviceNetworks,
} from "../../../runtime/ipam/own-addresses";
import { peerIPFaults } from "../../../runtime/ipam/peer-ip-faults";
import { PrefixTree } from "../../../runtime/ipam/prefix-tree";
import { network } from "./objects";

const node = (name: string, addresses: [type: string, address: string][], labels = {}): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, labels },
  spec: {},
  status: { addresses: addresses.map(([type, address]) => ({ type, address })) },
});
const internalNode = (name: string, gateways: string): InternalNode => ({
  apiVersion: "networking.liqo.io/v1beta1",
  kind: "InternalNode",
  metadata: { name, annotations: { "networking.liqo.io/default-gateways": gateways } },
  spec: { interface: { gateway: { name: "liqo.a" }, node: { ip: "10.80.0.1" } } },
});
const service: Service = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "kubernetes", namespace: "default" },
  spec: { clusterIP: "10.95.0.1", clusterIPs: ["10.95.0.1", "fd00::1"] },
};
const slice: EndpointSlice = {
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { name: "kubernetes", namespace: "default" },
  addressType: "IPv4",
  endpoints: [{ addresses: ["172.18.0.9"] }],
};
const own = ownAddresses({
  nodes: [
    node("rome-1", [
      ["InternalIP", "172.18.0.2"],
      ["ExternalIP", "203.0.113.7"],
      ["InternalIP", "fd00::2"],
      ["Hostname", "rome-1"],
    ]),
    node("milan", [["InternalIP", "10.42.0.77"]], { "liqo.io/type": "virtual-node" }),
  ],
  internalNodes: [internalNode("rome-1", "172.18.0.1,192.168.7.1")],
  apiServer: { services: [service], endpointSlices: [slice] },
});
const listed = (ranges: readonly OwnRange[]) => ranges.map(({ cidr, what }) => `${formatCidr(cidr)} ${what}`);

describe("what is a cluster's own", () => {
  it("are its nodes, their gateways and its API server, and no virtual node", () =>
    assert.deepEqual(listed(own), [
      "172.18.0.2/32 the InternalIP of Node rome-1",
      "203.0.113.7/32 the ExternalIP of Node rome-1",
      "172.18.0.1/32 the default gateway of Node rome-1",
      "192.168.7.1/32 the default gateway of Node rome-1",
      "172.18.0.9/32 an address of the API server",
      "10.95.0.1/32 the address of the API server's Service",
    ]));

  it("is the network of Services, as it was given or else as it is asked for", () => {
    const networks = [
      network({ name: "service-cidr", type: "service-cidr", cidr: "10.95.0.0/16", given: "10.96.0.0/16" }),
      network({ name: "more", type: "service-cidr", cidr: "10.97.0.0/16" }),
      network({ name: "unreadable", type: "service-cidr", cidr: "fd00::/64" }),
      network({ name: "pod-cidr", type: "pod-cidr", cidr: "10.42.0.0/16" }),
    ];
    assert.deepEqual(listed(serviceNetworks(networks)), [
      "10.96.0.0/16 the network of Services (Network liqo/service-cidr)",
      "10.97.0.0/16 the network of Services (Network liqo/more)",
    ]);
  });

  const ranges: [range: string, conflict: string | undefined][] = [
    ["172.18.0.0/16", "172.18.0.0/16 holds 172.18.0.2, the InternalIP of Node rome-1"],
    ["172.18.0.0/31", "172.18.0.0/31 holds 172.18.0.1, the default gateway of Node rome-1"],
    ["172.18.0.9/32", "172.18.0.9/32 holds 172.18.0.9, an address of the API server"],
    ["172.18.0.16/28", undefined],
    ["10.95.128.0/17", undefined],
  ];
  for (const [range, expected] of ranges) {
    it(`${expected === undefined ? "is nothing" : "is something"} of ${range}`, () => {
      const cidr = parseCidr(range);
      const conflict = conflictOf(cidr, own);
      assert.equal(conflict && describeConflict(cidr, conflict), expected);
    });
  }

  it("is told apart from a network", () =>
    assert.equal(
      describeConflict(parseCidr("10.0.0.0/8"), { cidr: parseCidr("10.96.0.0/16"), what: "the Services" }),
      "10.0.0.0/8 overlaps 10.96.0.0/16, the Services",
    ));
});

describe("a network of a peer", () => {
  const pools = ["172.16.0.0/12", "192.168.0.0/16"].map(parseCidr);
  const remote = (cidr: string) => ({
    cidr: parseCidr(cidr),
    immutable: false,
    exclusive: true,
    preAllocated: 0,
  });
  const given = (cidr: string, taken = own) =>
    formatCidr(new Ipam(pools, () => taken).acquireNetwork("peer", remote(cidr)));

  const cases: [asked: string, got: string][] = [
    // Nodes are there, so it goes to another place, and not to one where nodes are either.
    ["172.18.0.0/16", "172.16.0.0/16"],
    ["172.18.0.9/32", "172.16.0.0/32"],
    ["172.16.0.0/14", "172.20.0.0/14"],
    // The router's network, which no node has an address in.
    ["192.168.7.0/24", "172.16.0.0/24"],
    ["172.18.1.0/24", "172.18.1.0/24"],
  ];
  for (const [asked, got] of cases) {
    it(`asked for as ${asked} has its place at ${got}`, () => assert.equal(given(asked), got));
  }

  it("finds no place where each holds something of the cluster's own", () =>
    assert.throws(() => given("192.168.0.0/12"), /no network of 1048576 addresses \(\/12\) is free/));

  it("keeps the place that it was given before a node came there", () => {
    const taken: OwnRange[] = [];
    const ipam = new Ipam(pools, () => taken);
    ipam.acquireNetwork("peer", remote("172.18.0.0/16"));
    taken.push(...own);
    assert.equal(formatCidr(ipam.acquireNetwork("peer", remote("172.18.0.0/16"))), "172.18.0.0/16");
    ipam.releaseNetwork("peer");
    assert.equal(formatCidr(ipam.acquireNetwork("peer", remote("172.18.0.0/16"))), "172.16.0.0/16");
  });

  it("leaves a tree as it was where all of it is to be avoided", () => {
    const pool = parseCidr("192.168.0.0/16");
    const tree = new PrefixTree(pool);
    assert.equal(
      tree.acquireAny(24, () => true),
      undefined,
    );
    assert.ok(tree.isAvailable(pool));
    assert.ok(tree.acquire(pool, true));
  });
});

describe("an IP of a peering user", () => {
  const configuration = (peer: string, pod: string, external: string): Configuration => ({
    apiVersion: "networking.liqo.io/v1beta1",
    kind: "Configuration",
    metadata: { name: peer, namespace: `liqo-tenant-${peer}`, labels: { "liqo.io/remote-cluster-id": peer } },
    spec: {},
    status: { remote: { cidr: { pod: [pod], external: ["", external] } } },
  });
  const dependencies = {
    peer: "rome",
    own,
    networks: [
      network({ name: "pod-cidr", type: "pod-cidr", cidr: "10.72.0.0/16", given: "10.72.0.0/16" }),
      network({ name: "external-cidr", type: "external-cidr", cidr: "10.70.0.0/16", given: "10.71.0.0/16" }),
      network({ name: "internal-cidr", type: "internal-cidr", cidr: "10.80.0.0/16" }),
      network({ name: "service-cidr", type: "service-cidr", cidr: "10.95.0.0/16" }),
      network({ name: "reserved", type: "reserved", cidr: "172.18.0.0/16" }),
    ],
    configurations: [
      configuration("rome", "10.64.0.0/16", "10.65.0.0/16"),
      configuration("turin", "10.66.0.0/16", "10.67.0.0/16"),
    ],
  };
  const faults = (spec: IP["spec"]) =>
    peerIPFaults(
      { apiVersion: "ipam.liqo.io/v1alpha1", kind: "IP", metadata: { name: "a" }, spec },
      dependencies,
    );

  const addresses: [ip: string, why: RegExp | undefined][] = [
    ["172.18.0.77", undefined],
    ["8.8.8.8", undefined],
    // The proxy of the API server and other Services, by which in-band peers come.
    ["10.95.4.4", undefined],
    // The peer's own, where it came by its unknown senders.
    ["10.65.0.0", undefined],
    [
      "0.0.0.0",
      /spec\.ip: 0\.0\.0\.0 is in 0\.0\.0\.0\/8 \(unspecified addresses\); give another address, or have/,
    ],
    ["127.0.0.1", /is in 127\.0\.0\.0\/8 \(loopback/],
    ["169.254.169.254", /is in 169\.254\.0\.0\/16 \(link-local/],
    ["224.0.0.1", /is in 224\.0\.0\.0\/4 \(multicast/],
    ["255.255.255.255", /is in 240\.0\.0\.0\/4 \(reserved/],
    ["172.18.0.2", /172\.18\.0\.2 is the InternalIP of Node rome-1;/],
    ["203.0.113.7", /is the ExternalIP of Node rome-1/],
    ["172.18.0.1", /is the default gateway of Node rome-1/],
    ["172.18.0.9", /is an address of the API server/],
    ["10.95.0.1", /is the address of the API server's Service/],
    ["10.72.3.4", /is in the network of pods, which peers reach as they are/],
    ["10.71.0.9", /is in the network that IPs get their addresses from/],
    ["10.70.0.9", undefined],
    ["10.80.0.3", /is in the network between nodes and gateways/],
    ["10.66.1.2", /is in a network of cluster "turin"/],
    ["10.67.1.2", /is in a network of cluster "turin"/],
  ];
  for (const [ip, why] of addresses) {
    it(`${why === undefined ? "may" : "may not"} name ${ip}`, () => {
      const found = faults({ ip });
      assert.equal(found.length, why === undefined ? 0 : 1, found.join());
      if (why !== undefined) assert.match(found[0] ?? "", why);
    });
  }

  type Template = NonNullable<IP["spec"]["serviceTemplate"]>;
  const templates: [what: string, template: Template, why: RegExp | undefined][] = [
    [
      "ports",
      {
        metadata: { labels: { app: "registry" } },
        spec: { type: "ClusterIP", ports: [{ name: "https", port: 443, protocol: "TCP", targetPort: 8443 }] },
      },
      undefined,
    ],
    ["nothing but its name", { spec: {} }, undefined],
    [
      "a load balancer",
      { spec: { type: "LoadBalancer" } },
      /^spec\.serviceTemplate\.spec\.type: is "LoadBalancer"; write ClusterIP/,
    ],
    ["another name", { spec: { type: "ExternalName", externalName: "api" } }, /spec\.externalName: is "api"/],
    [
      "addresses of its choice",
      { spec: { externalIPs: ["172.18.0.1"] } },
      /externalIPs: is \["172\.18\.0\.1"\]/,
    ],
    ["pods", { spec: { selector: { app: "till" } } }, /selector: is \{"app":"till"\}/],
    [
      "a node port",
      { spec: { ports: [{ port: 1, nodePort: 30001 }] } },
      /spec\.ports\.0\.nodePort: is 30001/,
    ],
    [
      "a label of programs",
      { metadata: { labels: { "app.kubernetes.io/name": "proxy" } } },
      /metadata\.labels\.app\.kubernetes\.io\/name: is "proxy"/,
    ],
    [
      "annotations",
      { metadata: { annotations: { "external-dns.alpha.kubernetes.io/hostname": "bank.example" } } },
      /metadata\.annotations: is/,
    ],
  ];
  for (const [what, serviceTemplate, why] of templates) {
    it(`${why === undefined ? "may" : "may not"} have a Service with ${what}`, () => {
      const found = faults({ ip: "172.18.0.77", serviceTemplate });
      if (why === undefined) assert.deepEqual(found, []);
      else assert.match(found.join("\n"), why);
    });
  }

  it("gets its address from the external network alone", () =>
    assert.match(
      faults({ ip: "172.18.0.77", networkRef: { namespace: "liqo", name: "internal-cidr" } }).join(),
      /^spec\.networkRef: is liqo\/internal-cidr, .*leave it out/,
    ));
});
