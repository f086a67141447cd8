import assert from "node:assert/strict";

import {
  Configuration,
  Event,
  FirewallConfiguration,
  GatewayServer,
  GeneveTunnel,
  InternalFabric,
  InternalNode,
  IP,
  type Kind,
  type KubeObject,
  Network,
  Pod,
  RouteConfiguration,
} from "../../../runtime/api";
import {
  assertDistinct,
  endRuns,
  inventory,
  quiet,
  restart,
  run,
  survivesEveryDeath,
} from "../../support/memory-run";
import { until } from "../../support/until";
import { firewall, labels, namespace, networking, routes, scenario, starts } from "./peering-scenario";

describe("networking controllers", function () {
  this.timeout(180_000);
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
    assert.deepEqual(fabric.metadata.annotations, {
      "networking.liqo.io/peer-networks": "10.243.0.0/16,10.70.0.0/16",
      "networking.liqo.io/pod-networks": "10.243.0.0/16",
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
