import assert from "node:assert/strict";

import {
  Configuration,
  Event,
  FirewallConfiguration,
  GatewayClient,
  GatewayServer,
  GeneveTunnel,
  InternalFabric,
  InternalNode,
  IP,
  type Kind,
  type KubeObject,
  Network,
  Node,
  Pod,
  RouteConfiguration,
  Service,
} from "../../../runtime/api";
import type { RuntimeContext } from "../../../runtime/kube";
import { DEFAULT_POOLS } from "../../../runtime/ipam/pools";
import { startIpam } from "../../../runtime/ipam/start";
import type { NetworkingOptions } from "../../../runtime/networking/options";
import { startNetworking } from "../../../runtime/networking/start";
import type { MemoryApiServer } from "../../support/memory-api-server";
import {
  assertDistinct,
  endRuns,
  inventory,
  quiet,
  restart,
  run,
  type Scenario,
  survivesEveryDeath,
} from "../../support/memory-run";
import { until } from "../../support/until";
import { network } from "../ipam/objects";
import { describedFirewall, describedRoutes } from "./described";
import { options } from "./options";

const starts =
  (over: Partial<NetworkingOptions> = {}) =>
  async (context: RuntimeContext) => {
    const { liqoNamespace, global } = options;
    await startIpam(context, { liqoNamespace, pools: DEFAULT_POOLS, syncIntervalMs: 0, global });
    await startNetworking(context, { ...options, ...over });
  };

const networking = { apiVersion: "networking.liqo.io/v1beta1" } as const;
const labels = { "liqo.io/remote-cluster-id": "milan" };
const namespace = "liqo-tenant-milan";
const createNode = (server: MemoryApiServer, name: string, type?: string) =>
  server.create(Node, {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, ...(type !== undefined && { labels: { "liqo.io/type": type } }) },
    spec: {},
  });
const createPod = (server: MemoryApiServer, name: string, node: string, podIP: string, podLabels = {}) =>
  server.create(Pod, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "shop", labels: podLabels },
    spec: { nodeName: node, containers: [] },
    status: { phase: "Running", podIP },
  });

/** The cluster cl01 of the reference's packet walk (section 15), whose peer here is milan, with the gateway's pod running on n2. */
const scenario: Scenario = {
  prepare: (server) => {
    const installed = { preinstalled: true, pinned: true, shared: true };
    server.create(
      Network,
      network({ name: "pod-cidr", type: "pod-cidr", cidr: "10.243.0.0/16", ...installed }),
    );
    server.create(
      Network,
      network({ name: "service-cidr", type: "service-cidr", cidr: "10.95.0.0/16", ...installed }),
    );
    server.create(
      Network,
      network({
        name: "external-cidr",
        type: "external-cidr",
        cidr: "10.70.0.0/16",
        preAllocated: 1,
        preinstalled: true,
      }),
    );
    server.create(
      Network,
      network({ name: "internal-cidr", type: "internal-cidr", cidr: "10.80.0.0/16", preinstalled: true }),
    );
    for (const name of ["n1", "n2"]) createNode(server, name);
    createNode(server, "milan", "virtual-node");
    server.create(Service, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "kubernetes", namespace: "default" },
      spec: { clusterIP: "10.95.0.1" },
    });
    createPod(server, "a", "n1", "10.243.1.10");
    createPod(server, "offloaded", "milan", "10.71.1.20", { "liqo.io/shadowPod": "true" });
    server.create(GatewayClient, {
      ...networking,
      kind: "GatewayClient",
      metadata: { name: "milan", namespace, labels },
      spec: { mtu: 1340, endpoint: { addresses: ["172.19.0.2"], port: 31840 } },
      status: { internalEndpoint: { ip: "10.243.2.5", node: "n2" } },
    });
    server.create(Configuration, {
      ...networking,
      kind: "Configuration",
      metadata: { name: "milan", namespace, labels },
      spec: { remote: { cidr: { pod: ["10.243.0.0/16"], external: ["10.70.0.0/16"] } } },
    });
  },
  start: starts(),
  done: (server) =>
    server.get(RouteConfiguration, "liqo-tenant-milan/milan-gw-ext")?.spec.table.rules.length === 4 &&
    server.list(GeneveTunnel).length === 2 &&
    server.list(IP).length === 3 &&
    server.list(IP).every(({ status }) => status?.ip) &&
    server.list(FirewallConfiguration).length === 9 &&
    server.list(RouteConfiguration).length === 8,
};

const routes = (server: MemoryApiServer, key: string) => {
  const found = server.get(RouteConfiguration, key);
  assert.ok(found, key);
  const { name, namespace: where = "", labels: audience = {} } = found.metadata;
  return describedRoutes({ ...found, metadata: { name, namespace: where, labels: audience } });
};
const firewall = (server: MemoryApiServer, key: string) => {
  const found = server.get(FirewallConfiguration, key);
  assert.ok(found, key);
  const { name, namespace: where = "", labels: audience = {} } = found.metadata;
  return describedFirewall({ ...found, metadata: { name, namespace: where, labels: audience } });
};

describe("networking controllers", function () {
  this.timeout(60_000);
  afterEach(endRuns);

  it("make of a peering's objects what gateways and nodes need (networking reference 15)", async () => {
    const server = await run(scenario);
    await quiet(server);

    const configuration = server.get(Configuration, "liqo-tenant-milan/milan");
    assert.deepEqual(configuration?.spec.local?.cidr, { pod: ["10.243.0.0/16"], external: ["10.70.0.0/16"] });
    assert.deepEqual(configuration.status?.remote?.cidr, {
      pod: ["10.71.0.0/16"],
      external: ["10.68.0.0/16"],
    });
    const [condition] = configuration.status.conditions ?? [];
    assert.deepEqual([condition?.status, condition?.observedGeneration], ["True", 2]);

    for (const kind of [Configuration, Network, IP] as const)
      for (const { metadata, status } of server.list<Configuration | Network | IP>(kind))
        assert.equal(status?.observedGeneration, metadata.generation, `${kind.kind} ${metadata.name}`);

    const interfaces = Object.fromEntries(
      server.list(InternalNode).map(({ metadata, spec }) => [metadata.name, spec.interface]),
    );
    assert.deepEqual(Object.keys(interfaces), ["n1", "n2"]);
    const dev = (node: string) => interfaces[node]?.gateway.name;
    const via = (node: string) => interfaces[node]?.node.ip;
    const [fabric] = server.list(InternalFabric);
    assert.deepEqual(fabric?.spec, {
      mtu: 1340,
      gatewayIP: "10.243.2.5",
      remoteCIDRs: ["10.71.0.0/16", "10.68.0.0/16"],
      interface: {
        node: { name: fabric?.spec.interface.node.name },
        gateway: fabric?.spec.interface.gateway,
      },
    });
    const given = [via("n1"), via("n2"), fabric.spec.interface.gateway.ip].sort();
    assert.deepEqual(given, ["10.80.0.1", "10.80.0.2", "10.80.0.3"]);
    assert.deepEqual(
      server
        .list(GeneveTunnel)
        .map(({ metadata, spec }) => `${metadata.name} ${spec.id}`)
        .sort(),
      ["milan-n1 0", "milan-n2 1"],
    );

    assert.deepEqual(routes(server, "liqo-tenant-milan/milan-gw-ext").slice(2), [
      `rule iif ${dev("n1")} to 10.243.0.0/16`,
      "  10.243.0.0/16 via 169.254.18.1",
      `rule iif ${dev("n1")} to 10.70.0.0/16`,
      "  10.70.0.0/16 via 169.254.18.1",
      `rule iif ${dev("n2")} to 10.243.0.0/16`,
      "  10.243.0.0/16 via 169.254.18.1",
      `rule iif ${dev("n2")} to 10.70.0.0/16`,
      "  10.70.0.0/16 via 169.254.18.1",
    ]);
    assert.deepEqual(routes(server, "liqo/n1-gw-node").slice(2), [
      `rule to ${via("n1")}/32`,
      `  ${via("n1")}/32 dev ${dev("n1")} scope link`,
      "rule iif liqo-tunnel",
      `  10.243.1.10/32 via ${via("n1")}`,
    ]);
    assert.deepEqual(routes(server, "liqo/n2-extcidr").slice(2), [
      "rule iif liqo-tunnel to 10.71.0.0/16",
      `  10.71.0.0/16 via ${via("n2")} dev ${dev("n2")}`,
      "rule iif liqo-tunnel",
      `  10.68.0.0/32 via ${via("n2")} dev ${dev("n2")}`,
      `  10.95.0.1/32 via ${via("n2")} dev ${dev("n2")}`,
    ]);
    assert.equal(
      firewall(server, "liqo/service-nodeport-routing")[3],
      `  n1: src 10.70.0.0 iif ${dev("n1")} ctmark 1`,
    );
    assert.equal(routes(server, "liqo/n2-service-nodeport-routing")[2], "rule fwmark 2 to 10.70.0.0/32");
    // Which IP comes first is not decided; that each has an address of its own is.
    assert.deepEqual(
      server
        .list(IP)
        .map(({ status }) => status?.ip)
        .sort(),
      ["10.70.0.1", "10.70.0.2", "10.70.0.3"],
    );
    const exported = server.get(IP, "liqo/api-server")?.status?.ip;
    assert.deepEqual(firewall(server, "liqo/api-server-remap-ipmapping-gw").slice(2, 4), [
      "prerouting: nat prerouting -100",
      `  api-server: dst ${exported} iif liqo-tunnel dnat 10.95.0.1`,
    ]);
    assert.deepEqual(
      server
        .list(IP)
        .map(({ metadata, spec }) => `${metadata.namespace}/${metadata.name} ${spec.ip}`)
        .sort(),
      [
        "liqo-tenant-milan/milan-unknown-source 10.68.0.0",
        "liqo/api-server 10.95.0.1",
        "shop/offloaded 10.71.1.20",
      ],
    );
  });

  it("come to the same objects, whichever write is the last one of a process", async function () {
    this.timeout(600_000);
    const kinds: readonly Kind<KubeObject>[] = [
      Configuration,
      FirewallConfiguration,
      GeneveTunnel,
      InternalFabric,
      InternalNode,
      IP,
      Network,
      RouteConfiguration,
    ];
    let expected: string[] | undefined;
    await survivesEveryDeath(scenario, (server, survived) => {
      const found = inventory(server, kinds);
      expected ??= found;
      assert.deepEqual(found, expected, `dead after ${survived} writes`);
      // Which number is whose depends on who came first.
      assertDistinct(
        "addresses",
        server.list(IP).map(({ status }) => status?.ip),
      );
      assertDistinct("addresses of the overlay", [
        ...server.list(InternalNode).map(({ spec }) => spec.interface.node.ip),
        ...server.list(InternalFabric).map(({ spec }) => spec.interface.gateway.ip),
      ]);
      assertDistinct(
        "networks of the overlay",
        server.list(GeneveTunnel).map(({ spec }) => spec.id),
      );
      const ranges = server.list(Network).map(({ status }) => status?.cidr);
      assertDistinct("networks", ranges);
      const answer = server.get(Configuration, "liqo-tenant-milan/milan")?.status?.remote?.cidr;
      assert.ok([...(answer?.pod ?? []), ...(answer?.external ?? [])].every((cidr) => ranges.includes(cidr)));
    });
  });

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
    const { gatewayIP: _, ...kept } = server.list(InternalFabric)[0]?.spec ?? {};
    const { gatewayIP: __, ...expected } = before?.spec ?? {};
    assert.deepEqual(kept, expected);
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

  it("do what options say, also when they change", async () => {
    const server = await run({
      ...scenario,
      prepare: (cluster) => {
        scenario.prepare(cluster);
        cluster.create(Pod, {
          apiVersion: "v1",
          kind: "Pod",
          metadata: {
            name: "gw-milan",
            namespace,
            labels: { "networking.liqo.io/component": "gateway", "networking.liqo.io/active": "true" },
          },
          spec: { nodeName: "n2", containers: [] },
          status: { phase: "Running", podIP: "10.243.2.5" },
        });
      },
      start: starts({
        fullMasquerade: true,
        fabricRulePriority: 120,
        gatewayMasqueradeBypass: true,
        segmentSizeClamp: undefined,
        overlayWithoutTracking: true,
      }),
      done: (cluster) =>
        cluster.list(FirewallConfiguration).length === 10 && cluster.list(RouteConfiguration).length === 8,
    });
    const names = () => server.list(FirewallConfiguration).map(({ metadata }) => metadata.name);
    assert.ok(
      names().includes("n2-gw-masquerade-bypass") &&
        names().includes("fabric-notrack") &&
        !names().includes("gw-mss-clamping"),
    );
    assert.equal(firewall(server, "liqo-tenant-milan/milan-masquerade-bypass").length, 5);
    assert.match(routes(server, "liqo-tenant-milan/milan-node-gw")[2] ?? "", /^rule priority 120 to /);

    await restart(server, starts());
    await until(
      "the other options, and nothing of the ones before",
      () =>
        names().includes("gw-mss-clamping") &&
        !names().includes("fabric-notrack") &&
        !names().includes("n2-gw-masquerade-bypass") &&
        firewall(server, "liqo-tenant-milan/milan-masquerade-bypass").length !== 5,
    );
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

  it("say who is in the way when a peer has two gateways", async () => {
    const server = await run(scenario);
    server.create(GatewayServer, {
      ...networking,
      kind: "GatewayServer",
      metadata: { name: "second", namespace, labels },
      spec: { endpoint: { port: 51840, serviceType: "NodePort" } },
      status: { internalEndpoint: { ip: "10.243.1.9" } },
    });
    await until("the events", () => {
      const messages = server.list(Event).map(({ message }) => message ?? "");
      return ["are both for milan; delete one", "belongs to GatewayClient milan"].every((part) =>
        messages.some((message) => message.includes(part)),
      );
    });
  });
});
