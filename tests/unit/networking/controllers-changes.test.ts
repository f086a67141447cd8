import assert from "node:assert/strict";

import {
  Configuration,
  Event,
  FirewallConfiguration,
  GatewayClient,
  GeneveTunnel,
  InternalFabric,
  InternalNode,
  IP,
  type Kind,
  type KubeObject,
  Namespace,
  Network,
  Node,
  Pod,
  RouteConfiguration,
} from "../../../runtime/api";
import type { MemoryApiServer } from "../../support/memory-api-server";
import { endRuns, quiet, run } from "../../support/memory-run";
import { until } from "../../support/until";
import { createNode, createPod, firewall, namespace, routes, scenario } from "./peering-scenario";

const networksOfPeer = (server: MemoryApiServer) =>
  server.list(InternalFabric)[0]?.metadata.annotations?.["networking.liqo.io/peer-networks"];

describe("networking controllers, while things change", function () {
  this.timeout(180_000);
  afterEach(endRuns);

  it("follow nodes that come and go, and give nobody's number to another", async () => {
    const server = await run(scenario);
    createNode(server, "n3");
    await until("the tunnel of n3", () => server.get(GeneveTunnel, "liqo-tenant-milan/milan-n3"));
    server.delete(Node, "n1");
    await until("no InternalNode", () => server.get(InternalNode, "n1") === undefined);
    await until("no tunnel", () => server.get(GeneveTunnel, "liqo-tenant-milan/milan-n1") === undefined);
    createNode(server, "n4");
    await until("the tunnel of n4", () => server.get(GeneveTunnel, "liqo-tenant-milan/milan-n4"));
    await until("the marks", () => firewall(server, "liqo/service-nodeport-routing").length === 8);
    await quiet(server);
    assert.deepEqual(
      server
        .list(GeneveTunnel)
        .map(({ metadata, spec }) => `${metadata.name} ${spec.id}`)
        .sort(),
      ["milan-n2 1", "milan-n3 2", "milan-n4 3"],
    );
    assert.deepEqual(
      firewall(server, "liqo/service-nodeport-routing")
        .filter((line) => line.includes(" ctmark "))
        .map((line) => line.replace(/:.*ctmark/, "").trim()),
      ["n2 2", "n3 3", "n4 4"],
    );
    assert.equal(new Set(server.list(InternalNode).map(({ spec }) => spec.interface.node.ip)).size, 3);
    assert.equal(server.get(RouteConfiguration, "liqo/n1-gw-node"), undefined);
  });

  it("follow pods, and leave out those that have ended", async () => {
    const server = await run(scenario);
    createPod(server, "b", "n1", "10.243.1.11");
    createPod(server, "c", "n1", "10.243.1.12");
    const lines = () =>
      routes(server, "liqo/n1-gw-node")
        .slice(5)
        .map((line) => line.trim().split(" ")[0]);
    await until("three pods", () => lines().length === 3);
    server.change(Pod, "shop/a", { status: { phase: "Succeeded" } }, "status");
    server.delete(Pod, "shop/b");
    await until("one pod", () => lines().join() === "10.243.1.12/32");
    server.change(Pod, "shop/offloaded", { status: { podIP: "10.71.9.9" } }, "status");
    await until("the IP of the new address", () => server.get(IP, "shop/offloaded")?.spec.ip === "10.71.9.9");
    await quiet(server);
  });

  it("follow the gateway's pod, and the networks of the peer", async () => {
    const server = await run(scenario);
    const [before] = server.list(InternalFabric);
    server.change(
      GatewayClient,
      "liqo-tenant-milan/milan",
      { status: { internalEndpoint: { ip: "10.243.1.6", node: "n1" } } },
      "status",
    );
    await until("the new address", () => server.list(InternalFabric)[0]?.spec.gatewayIP === "10.243.1.6");
    assert.deepEqual(server.list(InternalFabric)[0]?.spec.interface, before?.spec.interface);

    server.change(Configuration, "liqo-tenant-milan/milan", {
      spec: { remote: { cidr: { pod: ["10.9.0.0/16"] } } },
    });
    await until("routes to the new network", () =>
      routes(server, "liqo-tenant-milan/milan-gw-ext")[2]?.endsWith("to 10.9.0.0/16"),
    );
    await until(
      "no route to the old one",
      () => !server.list(InternalFabric)[0]?.spec.remoteCIDRs?.includes("10.71.0.0/16"),
    );
    assert.deepEqual(firewall(server, "liqo-tenant-milan/milan-remap-podcidr").slice(2), [
      "outgoing: nat prerouting -100",
      "incoming: nat postrouting 100",
    ]);
    assert.equal(networksOfPeer(server), "10.9.0.0/16,10.70.0.0/16");
    await until(
      "the tenant's Networks",
      () => server.list(Network).filter(({ metadata }) => metadata.namespace === namespace).length === 2,
    );
    await quiet(server);
  });

  it("follow the gateway's pod also while the installation's Networks are gone", async () => {
    const server = await run(scenario);
    const [before] = server.list(InternalFabric);
    const moved = (ip: string) =>
      server.change(
        GatewayClient,
        "liqo-tenant-milan/milan",
        { status: { internalEndpoint: { ip, node: "n1" } } },
        "status",
      );
    server.delete(Network, "liqo/internal-cidr");
    moved("10.243.1.6");
    await until(
      "the pod's new address",
      () => server.list(InternalFabric)[0]?.spec.gatewayIP === "10.243.1.6",
    );

    for (const name of ["pod-cidr", "service-cidr", "external-cidr"]) server.delete(Network, `liqo/${name}`);
    for (const { metadata } of server.list(Network)) server.delete(Network, `${namespace}/${metadata.name}`);
    await until("the missing Networks named", () =>
      server
        .list(Event)
        .some(({ reason, message = "" }) =>
          ["pod-cidr", "service-cidr", "external-cidr", "internal-cidr", "pulumi up --refresh"].every(
            (part) => reason === "NetworksMissing" && message.includes(part),
          ),
        ),
    );
    moved("10.243.1.7");
    await until(
      "the pod's next address",
      () => server.list(InternalFabric)[0]?.spec.gatewayIP === "10.243.1.7",
    );
    const [after] = server.list(InternalFabric);
    const { gatewayIP: _, ...kept } = after?.spec ?? {};
    const { gatewayIP: __, ...expected } = before?.spec ?? {};
    assert.deepEqual(kept, expected);
    assert.deepEqual(after?.metadata.annotations, before?.metadata.annotations);
    await quiet(server);
  });

  it("put back what somebody removed or changed", async () => {
    const server = await run(scenario);
    server.delete(FirewallConfiguration, "liqo-tenant-milan/milan-remap-podcidr");
    server.delete(RouteConfiguration, "liqo/n1-gw-node");
    server.delete(FirewallConfiguration, "liqo/gw-mss-clamping");
    server.change(RouteConfiguration, "liqo-tenant-milan/milan-node-gw", {
      spec: { table: { rules: [{ fwmark: 3, routes: [] }] } },
    });
    await until(
      "all of it",
      () => scenario.done(server) && routes(server, "liqo-tenant-milan/milan-node-gw").length > 4,
    );
    await quiet(server);
  });

  it("leave nothing of a peering behind", async () => {
    const server = await run(scenario);
    server.delete(GatewayClient, "liqo-tenant-milan/milan");
    server.delete(Configuration, "liqo-tenant-milan/milan");
    server.delete(Pod, "shop/offloaded");
    await until("only what the cluster itself has", () => {
      const left = [FirewallConfiguration, RouteConfiguration, Network, InternalFabric, GeneveTunnel, IP]
        .flatMap((kind: Kind<KubeObject>) => server.list(kind))
        .filter(({ metadata }) => metadata.namespace !== "liqo");
      return left.length === 0;
    });
    await until("no route to the peer", () => routes(server, "liqo/n1-extcidr").length === 4);
    await quiet(server);
  });

  it("translate no address that peers are not to reach, from when its IP says so to when it says no more", async () => {
    const server = await run(scenario);
    const unreachable = { "networking.liqo.io/host-unreachable": "true" };
    server.create(IP, {
      apiVersion: "ipam.liqo.io/v1alpha1",
      kind: "IP",
      metadata: { name: "database", namespace: "shop", labels: unreachable },
      spec: { ip: "172.18.0.9", masquerade: true },
    });
    await until("its address", () => server.get(IP, "shop/database")?.status?.ip);
    await quiet(server);
    const translations = () =>
      ["gw", "fabric"].filter((where) =>
        server.get(FirewallConfiguration, `shop/database-remap-ipmapping-${where}`),
      );
    assert.deepEqual(translations(), []);
    server.change(IP, "shop/database", {
      metadata: { labels: { [Object.keys(unreachable)[0] ?? ""]: null } },
    });
    await until("both translations", () => translations().length === 2);
    server.change(IP, "shop/database", { metadata: { labels: unreachable } });
    await until("none any more", () => translations().length === 0);
    await quiet(server);
  });

  it("write an exported address into firewalls of its own, and follow its masquerade on and off", async () => {
    const server = await run(scenario);
    const exported = (name: string, ip: string, masquerade: boolean): IP => ({
      apiVersion: "ipam.liqo.io/v1alpha1",
      kind: "IP",
      metadata: { name, namespace: "shop" },
      spec: { ip, masquerade },
    });
    const ofNodes = (name: string) =>
      server.get(FirewallConfiguration, `shop/${name}-remap-ipmapping-fabric`) !== undefined;
    for (const [index, name] of ["database", "printer", "scanner"].entries()) {
      server.create(IP, exported(name, `172.18.0.${index + 9}`, true));
    }
    await until("the firewalls of each", () => ["database", "printer", "scanner"].every(ofNodes));
    for (const name of ["database", "printer", "scanner"]) {
      const gateway = server.get(FirewallConfiguration, `shop/${name}-remap-ipmapping-gw`);
      assert.equal(gateway?.spec.table.chains?.flatMap(({ rules }) => rules.natRules ?? []).length, 2);
    }
    const setMasquerade = (masquerade: boolean) =>
      server.change(IP, "shop/database", { spec: { masquerade } });
    setMasquerade(false);
    await until("the rules on nodes are gone", () => !ofNodes("database"));
    assert.ok(ofNodes("printer"));
    assert.ok(
      server.get(FirewallConfiguration, "shop/database-remap-ipmapping-gw"),
      "those in gateways stay",
    );
    setMasquerade(true);
    await until("they are back", () => ofNodes("database"));
  });

  it("send nothing to a peer's range while a node has an address there, and find it another one", async () => {
    const server = await run(scenario);
    const condition = () => server.get(Configuration, "liqo-tenant-milan/milan")?.status?.conditions?.[0];
    const ranges = () => server.get(InternalFabric, "liqo-tenant-milan/milan")?.spec.remoteCIDRs;
    const bypass = () => server.get(FirewallConfiguration, "liqo-tenant-milan/milan-masquerade-bypass");
    const place = server.get(Network, "liqo-tenant-milan/milan-pod-10-243-0-0-16")?.status?.cidr ?? "";
    assert.equal(place, "10.71.0.0/16");
    assert.ok(ranges()?.includes(place));
    createNode(server, "n9");
    server.change(
      Node,
      "n9",
      { status: { addresses: [{ type: "InternalIP", address: "10.71.4.4" }] } },
      "status",
    );
    await until("the conflict is named", () => condition()?.reason === "RangeConflict");
    assert.match(
      condition()?.message ?? "",
      /^10\.71\.0\.0\/16 holds 10\.71\.4\.4, the InternalIP of Node n9/,
    );
    const tunnel = () => server.get(RouteConfiguration, "liqo-tenant-milan/milan-gw-ext");
    await until(
      "no way leads there",
      () => ranges()?.length === 0 && bypass() === undefined && tunnel() === undefined,
    );
    await quiet(server);

    server.delete(Network, "liqo-tenant-milan/milan-pod-10-243-0-0-16");
    await until("another place", () => condition()?.status === "True");
    const [pod = ""] = server.get(Configuration, "liqo-tenant-milan/milan")?.status?.remote?.cidr?.pod ?? [];
    assert.match(pod, /^10\.\d+\.0\.0\/16$/);
    assert.notEqual(pod, place);
    await until("the ways lead there", () => ranges()?.includes(pod) === true && bypass() !== undefined);
    await quiet(server);
  });

  it("take back what a peer's range was refused for when the node is gone", async () => {
    const server = await run(scenario);
    const condition = () => server.get(Configuration, "liqo-tenant-milan/milan")?.status?.conditions?.[0];
    server.create(Node, {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "n9" },
      spec: {},
      status: { addresses: [{ type: "ExternalIP", address: "10.68.0.1" }] },
    });
    await until("the conflict is named", () => condition()?.reason === "RangeConflict");
    server.delete(Node, "n9");
    await until("it is over", () => condition()?.status === "True");
    await until(
      "the ways lead there again",
      () => server.get(InternalFabric, "liqo-tenant-milan/milan")?.spec.remoteCIDRs?.length === 2,
    );
  });

  it("withhold what an IP in a tenant namespace may not name, and give the rest", async () => {
    const server = await run(scenario);
    server.create(Namespace, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: {
        name: namespace,
        labels: { "liqo.io/tenant-namespace": "true", "liqo.io/remote-cluster-id": "milan" },
      },
    });
    const make = (name: string, ip: string) =>
      server.create(IP, {
        apiVersion: "ipam.liqo.io/v1alpha1",
        kind: "IP",
        metadata: { name, namespace },
        spec: { ip },
      });
    const given = (name: string) => server.get(IP, `${namespace}/${name}`)?.status?.ip;
    make("metadata", "169.254.169.254");
    make("printer", "192.168.7.9");
    await until("an address for the printer", () => given("printer"));
    await until("the other one is told of", () =>
      server
        .list(Event)
        .some(
          ({ reason, message = "" }) => reason === "AddressRefused" && /169\.254\.169\.254/.test(message),
        ),
    );
    assert.equal(given("metadata"), undefined);
    assert.ok(given("milan-unknown-source"));

    // The machine becomes a node.
    server.create(Node, {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "n9" },
      spec: {},
      status: { addresses: [{ type: "InternalIP", address: "192.168.7.9" }] },
    });
    await until("the address is taken back", () => given("printer") === undefined);
    await until(
      "the translation goes as well",
      () => server.get(FirewallConfiguration, `${namespace}/printer-remap-ipmapping-gw`) === undefined,
    );
    await quiet(server);
  });
});
