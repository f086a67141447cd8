import assert from "node:assert/strict";

import { EndpointSlice, Event, IP, Network, Service } from "../../../runtime/api";
import type { RuntimeContext } from "../../../runtime/kube";
import { formatCidr, overlaps, parseCidr } from "../../../runtime/ipam/cidr";
import type { IpamOptions } from "../../../runtime/ipam/ipam-context";
import { DEFAULT_POOLS } from "../../../runtime/ipam/pools";
import { startIpam } from "../../../runtime/ipam/start";
import type { MemoryApiServer } from "../../support/memory-api-server";
import {
  assertDistinct,
  endRuns,
  inventory,
  quiet,
  run,
  type Scenario,
  survivesEveryDeath,
} from "../../support/memory-run";
import { until } from "../../support/until";
import { ip, network } from "./objects";

const options: IpamOptions = {
  liqoNamespace: "liqo",
  pools: DEFAULT_POOLS,
  syncIntervalMs: 0,
  global: { labels: {}, annotations: {} },
};
const start = (context: RuntimeContext) => startIpam(context, options);

const installed = { preinstalled: true, namespace: "liqo" };
const pods = network({
  ...installed,
  name: "pod-cidr",
  type: "pod-cidr",
  cidr: "10.243.0.0/16",
  pinned: true,
  shared: true,
});
const services = network({
  ...installed,
  name: "service-cidr",
  type: "service-cidr",
  cidr: "10.95.0.0/16",
  pinned: true,
  shared: true,
});
const external = network({
  ...installed,
  name: "external-cidr",
  type: "external-cidr",
  cidr: "10.70.0.0/16",
  preAllocated: 1,
});
const internal = network({
  ...installed,
  name: "internal-cidr",
  type: "internal-cidr",
  cidr: "10.80.0.0/16",
});
const remote = (name: string, cidr: string) => network({ name, cidr, namespace: "liqo-tenant-milan" });

const given = (server: MemoryApiServer) =>
  Object.fromEntries(server.list(Network).map(({ metadata, status }) => [metadata.name, status?.cidr]));
const addresses = (server: MemoryApiServer) =>
  Object.fromEntries(server.list(IP).map(({ metadata, status }) => [metadata.name, status?.ip]));
const allGiven = (server: MemoryApiServer) =>
  server.list(Network).every(({ status }) => status?.cidr) &&
  server.list(IP).every(({ status }) => status?.ip);

const exported = ip(
  "registry",
  {
    ip: "192.0.2.7",
    serviceTemplate: {
      metadata: { labels: { app: "registry" } },
      spec: { type: "ClusterIP", ports: [{ name: "https", port: 443, targetPort: 8443 }, { port: 80 }] },
    },
  },
  undefined,
  "shop",
);

/** In the worst order: those of the peer first, those that all others must respect last. */
const scenario: Scenario = {
  prepare: (server) => {
    server.create(Network, remote("milan-pod", "10.243.0.0/16"));
    server.create(IP, exported);
    server.create(Network, remote("milan-external", "10.70.0.0/16"));
    server.create(IP, ip("api-server", { ip: "10.95.0.1" }));
    for (const one of [internal, external, services, pods]) server.create(Network, one);
  },
  start,
  done: (server) => allGiven(server) && server.list(EndpointSlice).length === 1,
};

describe("controllers of networks and addresses", function () {
  this.timeout(180_000);
  afterEach(endRuns);

  it("give what upstream gives, whatever the order of the objects (networking reference 15, 21)", async () => {
    const server = await run(scenario);
    assert.deepEqual(given(server), {
      "milan-pod": "10.71.0.0/16",
      "milan-external": "10.68.0.0/16",
      "internal-cidr": "10.80.0.0/16",
      "external-cidr": "10.70.0.0/16",
      "service-cidr": "10.95.0.0/16",
      "pod-cidr": "10.243.0.0/16",
    });
    assert.deepEqual(addresses(server), { registry: "10.70.0.1", "api-server": "10.70.0.2" });
    assert.deepEqual(server.get(Network, "liqo-tenant-milan/milan-pod")?.metadata.finalizers, [
      "network.ipam.liqo.io/finalizer",
    ]);
    assert.equal(server.get(Network, "liqo/pod-cidr")?.metadata.finalizers, undefined);
    assert.deepEqual(server.get(IP, "shop/registry")?.metadata.labels, {
      "ipam.liqo.io/network-namespace": "liqo",
      "ipam.liqo.io/network-name": "external-cidr",
    });
    await quiet(server);
  });

  it("make the Service that an IP asks for, and its slice", async () => {
    const server = await run(scenario);
    const service = server.get(Service, "shop/registry");
    assert.deepEqual(service?.metadata.labels, { app: "registry", "liqo.io/managed-by": "ip" });
    assert.deepEqual(service.spec?.ports?.[0], { name: "https", port: 443, targetPort: 8443 });
    const slice = server.get(EndpointSlice, "shop/registry");
    assert.deepEqual(slice?.endpoints, [{ addresses: ["192.0.2.7"], conditions: { ready: true } }]);
    assert.deepEqual(slice.ports, [
      { name: "https", port: 443, protocol: "TCP" },
      { name: "", port: 80, protocol: "TCP" },
    ]);
    assert.equal(slice.metadata.labels?.["kubernetes.io/service-name"], "registry");

    server.delete(Service, "shop/registry");
    await until("the Service again", () => server.get(Service, "shop/registry"));
    server.change(IP, "shop/registry", { spec: { serviceTemplate: null } });
    await until("no Service", () => server.list(Service).length + server.list(EndpointSlice).length === 0);
    await quiet(server);
  });

  it("come to the same objects, whichever write is the last one of a process", async function () {
    this.timeout(240_000);
    let expected: string[] | undefined;
    await survivesEveryDeath(scenario, (server, survived) => {
      const found = inventory(server, [Network, IP, Service, EndpointSlice]);
      expected ??= found;
      assert.deepEqual(found, expected, `dead after ${survived} writes`);
      assertDistinct("addresses", Object.values(addresses(server)));
      // Those of the peer go where they were not remembered to have been: only never where somebody is.
      const cidrs = Object.values(given(server)).map((cidr) => parseCidr(cidr ?? ""));
      for (const a of cidrs) assert.equal(cidrs.filter((b) => overlaps(a, b)).length, 1, formatCidr(a));
    });
  });

  it("give a range again once its Network is gone, and an address once its IP is", async () => {
    const server = await run(scenario);
    for (const name of ["milan-external", "milan-pod"]) {
      server.delete(Network, `liqo-tenant-milan/${name}`);
      await until("the Network to go", () => server.get(Network, `liqo-tenant-milan/${name}`) === undefined);
    }
    server.create(Network, remote("turin-pod", "10.243.0.0/16"));
    await until("a range", () => given(server)["turin-pod"]);
    assert.equal(given(server)["turin-pod"], "10.71.0.0/16");

    server.delete(IP, "shop/registry");
    await until("the IP to go", () => server.get(IP, "shop/registry") === undefined);
    assert.equal(server.list(Service).length, 0);
    server.create(IP, ip("next", { ip: "192.0.2.8" }));
    await until("an address", () => addresses(server).next);
    assert.equal(addresses(server).next, "10.70.0.3");
  });

  it("keep a range as long as somebody holds its Network", async () => {
    const server = await run(scenario);
    server.change(Network, "liqo-tenant-milan/milan-pod", {
      metadata: { finalizers: ["network.ipam.liqo.io/finalizer", "example.com/held"] },
    });
    server.delete(Network, "liqo-tenant-milan/milan-pod");
    await until(
      "one finalizer",
      () => server.get(Network, "liqo-tenant-milan/milan-pod")?.metadata.finalizers?.length === 1,
    );
    server.create(Network, remote("turin-pod", "10.243.0.0/16"));
    await until("a range", () => given(server)["turin-pod"]);
    assert.equal(given(server)["turin-pod"], "10.69.0.0/16");
  });

  it("give a range that a pinned Network waits for when it becomes free, and say who is in the way", async () => {
    const server = await run(scenario);
    server.create(
      Network,
      network({ name: "vpn", cidr: "10.71.0.0/16", type: "reserved", pinned: true, shared: true }),
    );
    server.create(Network, remote("bad", "169.254.0.0/16"));
    server.create(Network, remote("next", "10.3.0.0/24"));
    await until("the next Network", () => given(server).next);
    assert.deepEqual([given(server).vpn, given(server).bad], [undefined, undefined]);
    const told = [
      "10.71.0.0/16 overlaps Network liqo-tenant-milan/milan-pod (10.71.0.0/16); give one of them another range",
      "spec.cidr 169.254.0.0/16 overlaps 169.254.0.0/16 (link-local addresses, among them those of the tunnels); pods there cannot be reached",
    ];
    await until("events", () => {
      const messages = server.list(Event).map(({ message }) => message);
      return told.every((message) => messages.includes(message));
    });
    server.delete(Network, "liqo-tenant-milan/milan-pod");
    await until("the pinned Network", () => given(server).vpn === "10.71.0.0/16");
  });

  it("move IPs when their network has another range", async () => {
    const server = await run(scenario);
    server.change(Network, "liqo/external-cidr", { status: { cidr: "10.60.0.0/16" } }, "status");
    await until("new addresses", () =>
      Object.values(addresses(server)).every((address) => address?.startsWith("10.60.")),
    );
    await quiet(server);
  });

  it("go on from the objects after a restart that met contradictions", async () => {
    const server = await run({
      ...scenario,
      prepare: (cluster) => {
        scenario.prepare(cluster);
        cluster.create(Network, { ...remote("first", "10.5.0.0/16"), status: { cidr: "10.5.0.0/16" } });
        cluster.create(Network, { ...remote("second", "10.5.0.0/16"), status: { cidr: "10.5.0.0/17" } });
        cluster.create(IP, ip("a", { ip: "192.0.2.1" }, { ip: "10.70.0.1", cidr: "10.70.0.0/16" }));
        cluster.create(IP, ip("b", { ip: "192.0.2.2" }, { ip: "10.70.0.1", cidr: "10.70.0.0/16" }));
      },
    });
    assert.deepEqual(addresses(server), {
      a: "10.70.0.1",
      b: "10.70.0.1",
      registry: "10.70.0.2",
      "api-server": "10.70.0.3",
    });
    server.create(Network, remote("third", "10.5.0.0/16"));
    await until("a range", () => given(server).third);
    assert.notEqual(given(server).third, "10.5.0.0/16");
  });
});
