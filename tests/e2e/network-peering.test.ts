import assert from "node:assert/strict";

import { runOnNode } from "../../provider/local-cluster/native/native-backend";
import type { RunningCluster } from "../../provider/local-cluster/running-cluster";
import {
  Configuration,
  Connection,
  EndpointSlice,
  GatewayClient,
  GatewayServer,
  IP,
  type KubeObject,
  Name,
  Namespace,
  Network,
  Pod,
  Secret,
  Service,
} from "../../runtime/api";
import type { KubeClient } from "../../runtime/kube";
import { Liqoctl } from "../support/liqoctl";
import { NetworkedClusters } from "../support/networked-clusters";
import { NetworkedPods } from "../support/networked-pods";
import { REPLICATED, type Side } from "../support/networked-program";
import { networkOf } from "../support/node-network";
import { killProcessesOf } from "../support/pod-processes";
import { until } from "../support/until";

describe("clusters whose networks are connected", function () {
  this.timeout(5 * 60_000);
  const networked = NetworkedClusters.forSuite();
  let clusters: Record<Side, RunningCluster>;
  let clients: Record<Side, KubeClient>;
  let pods: NetworkedPods;
  /** What each node had before anything was installed. */
  const initial = new Map<string, string>();

  before(async function () {
    this.timeout(20 * 60_000);
    ({ running: clusters, clients } = networked());
    pods = new NetworkedPods(networked());
    for (const [side, node] of networked().nodes()) initial.set(node, await networkOf(side, node));
    const begin = performance.now();
    await (await networked().stack()).up();
    console.log(`    installed and peered in ${Math.round((performance.now() - begin) / 1000)} s`);
    await Promise.all([
      pods.run("rome", pods.server("rome-a", "default", { nodeName: "rome-1" })),
      pods.run("rome", pods.server("rome-b", "default", { nodeName: "rome-2" })),
      pods.run("milan", pods.server("milan-a", "default", { nodeName: "milan-1" })),
      pods.run("milan", pods.server("milan-b", "default", { nodeName: "milan-2" })),
      pods.run("turin", pods.server("turin-a", "default", { nodeName: "turin-1" })),
    ]);
  });

  it("have nothing to change once what was told is looked at again", async () => {
    const stack = await networked().stack();
    const { changeSummary } = await stack.preview({ refresh: true, expectNoChanges: true });
    assert.deepEqual(Object.keys(changeSummary), ["same"]);
  });

  it("reach each other's pods, from every node to every node, and see who it is", async () => {
    for (const [side, peer] of [
      ["rome", "milan"],
      ["milan", "rome"],
    ] as const) {
      for (const from of ["a", "b"]) {
        for (const to of ["a", "b"]) {
          const target = await pods.addressOf(peer, `${peer}-${to}`);
          const own = await pods.addressOf(side, `${side}-${from}`);
          assert.equal(await pods.answer(side, `${side}-${from}`, `${target}:8080`), `${peer}-${to} ${own}`);
        }
      }
    }
  });

  it("do so with the very same pod networks, each by the other's mapped addresses", async () => {
    const romes = await pods.addressOf("rome", "rome-b");
    const turins = await pods.addressOf("turin", "turin-a");
    const turinAtRome = await pods.seenFrom("rome", turins, "turin");
    const romeAtTurin = await pods.seenFrom("turin", romes, "rome");
    assert.notEqual(turinAtRome, turins);
    assert.notEqual(romeAtTurin, romes);
    assert.equal(await pods.answer("rome", "rome-b", `${turinAtRome}:8080`), `turin-a ${romeAtTurin}`);
    assert.equal(await pods.answer("turin", "turin-a", `${romeAtTurin}:8080`), `rome-b ${turinAtRome}`);
  });

  it("answer at one Service, from pods of both, on both sides", async () => {
    await clients.rome.apply(
      Service,
      {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "web", namespace: "shop" },
        spec: { selector: { app: "web" }, ports: [{ port: 80, targetPort: 8080 }] },
      },
      { fieldManager: "test", force: true },
    );
    await Promise.all([
      pods.run(
        "rome",
        pods.server("at-rome", "shop", { nodeSelector: { "kubernetes.io/hostname": "rome-2" } }),
      ),
      pods.run(
        "rome",
        pods.server("at-milan", "shop", { nodeSelector: { "liqo.io/remote-cluster-id": "milan" } }),
      ),
    ]);
    const offloaded = await pods.addressOf("rome", "at-milan", "shop");
    assert.match(offloaded, /^10\.62\./, "the pod's address in rome is one that leads to milan");
    await pods.both("rome", "rome-a", "default", "web.shop");
    await pods.both("milan", "milan-a", "default", "web.shop-rome");
    await pods.both("rome", "at-milan", "shop", "web");
  });

  it("let an offloaded pod reach the API server of its home, which knows its account", async () => {
    const { runtime } = networked().images;
    const idle = "setInterval(() => {}, 60_000)";
    const containers = [{ name: "main", image: runtime.name, command: ["node", "-e", idle] }];
    const caller = pods.server("caller", "shop", {
      nodeSelector: { "liqo.io/remote-cluster-id": "milan" },
      containers,
    });
    await pods.run("rome", { ...caller, metadata: { name: "caller", namespace: "shop" } });
    const [host, address, status, message] = await until(
      "the home API server answers",
      () => pods.askHome("rome", "caller", "shop"),
      { everyMs: 200 },
    );
    const home = await clients.rome.get(IP, { name: Name.apiServerIP, namespace: "liqo" });
    assert.equal(host, "kubernetes.default");
    assert.equal(address, await pods.seenFrom("milan", home?.status?.ip ?? "", "rome"));
    assert.equal(status, "403");
    assert.match(message ?? "", /User "system:serviceaccount:shop:default" cannot list resource "nodes"/);
    await clients.rome.delete(Pod, { name: "caller", namespace: "shop" }, { gracePeriodSeconds: 0 });
  });

  for (const [home, peer, namespace] of [
    ["rome", "turin", "wine"],
    ["turin", "rome", "books"],
  ] as const) {
    it(`reach ${peer}'s API server from ${home} through the tunnel, with its streams`, async () => {
      const script = "while :; do echo tick; sleep 1; done";
      const pod = pods.server(`from-${home}`, namespace, {
        nodeSelector: { "liqo.io/remote-cluster-id": peer },
        containers: [{ name: "main", image: networked().images.busybox.name, command: ["sh", "-c", script] }],
      });
      await pods.run(home, pod);
      const secrets = await clients[home].list(Secret, {
        namespace: `liqo-tenant-${peer}`,
        labelSelector: "liqo.io/identity-type=ControlPlane",
      });
      const kubeconfigs = secrets.map(({ data }) =>
        Buffer.from(data?.["kubeconfig"] ?? "", "base64").toString(),
      );
      assert.match(kubeconfigs.join("\n"), /server: "?https:\/\/kubernetes\.default\.svc/);
      assert.match(kubeconfigs.join("\n"), /proxy-url: "?http:\/\/[\d.]+:8118/);
      const name = `from-${home}`;
      const execute = (command: string) =>
        networked().kubectl(home, ["exec", "-n", namespace, "-i", name, "--", "sh", "-c", command], {
          input: "what is typed\n",
          timeoutMs: 30_000,
        });
      assert.equal(await execute("hostname; cat"), `${name}\nwhat is typed\n`);
      await assert.rejects(execute("echo gone >&2; exit 3"), /exit code 3: gone/);
      let followed = "";
      const stop = new AbortController();
      const logs = networked().kubectl(home, ["logs", "-n", namespace, "--follow", "--tail=1", name], {
        signal: stop.signal,
        onOutput: (text) => (followed += text),
      });
      const ended = assert.rejects(logs);
      await until("lines come as they are written", () => followed.split("tick").length > 3);
      stop.abort();
      await ended;
      await clients[home].delete(Pod, { name, namespace }, { gracePeriodSeconds: 0 });
    });
  }

  it("leave the peer's pods out of Services while it cannot be reached, and take them in again", async () => {
    /** Whether each pod of the Service is ready there, by address. */
    const readiness = async (side: Side, namespace: string) => {
      const slices = await clients[side].list(EndpointSlice, {
        namespace,
        labelSelector: "kubernetes.io/service-name=web",
      });
      const all = slices.flatMap(({ endpoints }) => endpoints ?? []);
      return all
        .map(({ addresses, conditions }) => `${addresses.join()} ${conditions?.ready === true}`)
        .sort();
    };
    const become = (side: Side, namespace: string, expected: string[]) =>
      until(
        `endpoints at ${side}: ${expected.join(", ")}`,
        async () => (await readiness(side, namespace)).join() === [...expected].sort().join(),
        { everyMs: 200, timeoutMs: 90_000 },
      );
    const atMilan = await pods.addressOf("rome", "at-milan", "shop");
    const atRome = await pods.addressOf("rome", "at-rome", "shop");
    const romesAtMilan = await pods.seenFrom("milan", atRome, "rome");
    const milansOwn = (await clients.milan.get(Pod, { name: "at-milan", namespace: "shop-rome" }))?.status
      ?.podIP;
    const reached = async () => {
      await become("rome", "shop", [`${atRome} true`, `${atMilan} true`]);
      await become("milan", "shop-rome", [`${milansOwn} true`, `${romesAtMilan} true`]);
    };
    await reached();
    const onMilan = (script: string) =>
      Promise.all(clusters.milan.nodeNames.map((node) => runOnNode("milan", node, ["sh", "-c", script])));
    await onMilan(
      "nft 'add table inet cut; add chain inet cut f { type filter hook forward priority -300; }; add rule inet cut f udp dport 51840 drop; add rule inet cut f udp sport 51840 drop'",
    );
    try {
      await become("rome", "shop", [`${atRome} true`, `${atMilan} false`]);
      await become("milan", "shop-rome", [`${milansOwn} true`, `${romesAtMilan} false`]);
      const names = new Set<string>();
      for (let count = 0; count < 10; count++) {
        const [name = ""] = (await pods.answer("rome", "rome-a", "web.shop")).split(" ");
        names.add(name);
      }
      assert.deepEqual([...names], ["at-rome"]);
    } finally {
      await onMilan("nft delete table inet cut");
    }
    await reached();
    await pods.both("rome", "rome-a", "default", "web.shop");
  });

  it("have one active gateway each, whose peers are led to no other", async () => {
    for (const [side, peer] of [
      ["milan", "rome"],
      ["rome", "milan"],
      ["rome", "turin"],
      ["turin", "rome"],
    ] as const) {
      const { active, others } = await pods.gatewayPods(side, peer);
      assert.deepEqual([active.length, others.length], [1, REPLICATED.includes(side) ? 1 : 0], side);
    }
  });

  for (const [side, peer, pod] of [
    ["milan", "rome", "milan-b"],
    ["rome", "milan", "milan-b"],
    ["turin", "rome", "turin-a"],
  ] as const) {
    const other = side === "rome" ? peer : side;
    it(`come back by themselves when ${side}'s active gateway is killed`, async () => {
      const before = await pods.gatewayPods(side, peer);
      const [gateway = assert.fail()] = before.active;
      const { uid, name } = gateway.metadata;
      const begin = performance.now();
      assert.ok(killProcessesOf(name) > 0, `${name} has processes`);
      await clients[side].delete(Pod, gateway.metadata, { gracePeriodSeconds: 0, uid });
      await until(`${side} has an active gateway again`, async () => {
        const { active } = await pods.gatewayPods(side, peer);
        return active.some(({ metadata }) => metadata.uid !== uid);
      });
      await pods.romeReaches(other === "turin" ? "turin" : "milan", pod);
      const seconds = (performance.now() - begin) / 1000;
      console.log(`      gateway of ${side}: back after ${seconds.toFixed(1)} s`);
      const { active } = await pods.gatewayPods(side, peer);
      assert.equal(active.length, 1, "one carries the traffic");
      if (!REPLICATED.includes(side)) return;
      assert.deepEqual(
        active.map(({ metadata }) => metadata.uid),
        before.others.map(({ metadata }) => metadata.uid),
        "the one that stood by has taken over",
      );
      if (side !== "milan") return;
      const slices = await clients.milan.list(EndpointSlice, {
        namespace: gateway.metadata.namespace ?? "",
        labelSelector: `kubernetes.io/service-name=gw-rome`,
      });
      const addresses = slices.flatMap(({ endpoints }) => (endpoints ?? []).flatMap((one) => one.addresses));
      assert.deepEqual(addresses, [active[0]?.status?.podIP], "the server's Service leads to it alone");
    });
  }

  it("follow a server's new address with a run that looks at what there is", async () => {
    const ref = { name: "gw-rome", namespace: "liqo-tenant-rome" };
    const told = async () => (await gatewayClient()).spec.endpoint?.addresses?.join();
    const gatewayClient = async () => {
      const [found = assert.fail()] = await clients.rome.list(GatewayClient, { namespace: "to-milan" });
      return found;
    };
    const addressAtMilan = async () => {
      const [found] = await clients.milan.list(GatewayServer, { namespace: ref.namespace });
      return found?.status?.endpoint?.addresses?.join();
    };
    const before = await told();
    assert.ok(before !== undefined && before === (await addressAtMilan()));
    // The cloud gives the load balancer another address.
    const services = await clients.milan.list(Service);
    const taken = services.flatMap(({ status }) =>
      (status?.loadBalancer?.ingress ?? []).map(({ ip = "" }) => ip),
    );
    const [, network = "", last = ""] = /^(.*\.)(\d+)$/.exec(before) ?? [];
    const next = Array.from({ length: 5 }, (_, index) => `${network}${Number(last) + index + 1}`);
    const ip = next.find((address) => !taken.includes(address)) ?? assert.fail();
    const status = { loadBalancer: { ingress: [{ ip }] } };
    await clients.milan.patch(Service, ref, { status }, { type: "merge", subresource: "status" });
    await until("the server tells its new address", async () => (await addressAtMilan()) === ip);
    assert.equal(await told(), before, "nobody but who made the client changes it");

    const stack = await networked().stack();
    const { changeSummary } = await stack.preview({ refresh: true });
    assert.ok((changeSummary.update ?? 0) > 0, JSON.stringify(changeSummary));
    const uid = (await gatewayClient()).metadata.uid;
    await stack.up({ refresh: true });
    assert.equal(await told(), ip);
    assert.equal((await gatewayClient()).metadata.uid, uid);
    await pods.romeReaches("milan", "milan-a");
  });

  it("are connected by liqoctl, which follows the server's address when it is run again, and parted by it", async () => {
    const cli = new Liqoctl();
    try {
      await cli.prepare({ milan: clusters.milan.kubeconfig, turin: clusters.turin.kubeconfig });
      const network = async (line: string) => {
        const { status, out, err } = await cli.run(
          `network ${line} --kubeconfig milan.kubeconfig --namespace liqo-system --remote-kubeconfig turin.kubeconfig --skip-confirm`,
        );
        assert.equal(status, 0, `liqoctl network ${line}\n${out}${err}`);
        return out + err;
      };
      const connect = "connect --gw-server-service-type NodePort --wait";
      await network(connect);
      const turins = await pods.seenFrom("milan", await pods.addressOf("turin", "turin-a"), "turin");
      const milans = await pods.seenFrom("turin", await pods.addressOf("milan", "milan-a"), "milan");
      assert.equal(await pods.answer("milan", "milan-a", `${turins}:8080`), `turin-a ${milans}`);

      const ref = { name: "turin", namespace: "liqo-tenant-turin" };
      const client = async () => (await clients.milan.get(GatewayClient, ref)) ?? assert.fail();
      const { metadata, spec } = await client();
      await network(connect);
      assert.equal((await client()).metadata.resourceVersion, metadata.resourceVersion, "nothing to write");
      // As if the server had had another address when it was told.
      const endpoint = { ...spec.endpoint, addresses: ["192.0.2.77"] };
      await clients.milan.patch(GatewayClient, ref, { spec: { endpoint } }, { type: "merge" });
      await network(connect);
      assert.deepEqual((await client()).spec.endpoint, spec.endpoint);
      assert.equal(await pods.answer("milan", "milan-a", `${turins}:8080`), `turin-a ${milans}`);

      const left = async () => {
        const kinds = [GatewayClient, GatewayServer, Connection, Configuration] as const;
        const found: string[] = [];
        for (const [side, namespace] of [
          ["milan", "liqo-tenant-turin"],
          ["turin", "liqo-tenant-milan"],
        ] as const) {
          for (const kind of kinds) {
            const objects = await clients[side].list<KubeObject>(kind, { namespace });
            found.push(...objects.map((object) => `${side} ${object.kind}`));
          }
        }
        return found.sort().join();
      };
      await network("disconnect");
      const configurations = "milan Configuration,turin Configuration";
      await until("only the places of networks are left", async () => (await left()) === configurations);
      await network("reset");
      await until("nothing is left", async () => (await left()) === "");
      await clients.milan.delete(Namespace, { name: "liqo-tenant-turin" });
      await clients.turin.delete(Namespace, { name: "liqo-tenant-milan" });
    } finally {
      cli.remove();
    }
  });

  it("leave nothing on the nodes when they part", async () => {
    await clients.rome.delete(Pod, { name: "at-milan", namespace: "shop" });
    await assert.rejects((await networked().stack({ peered: false, turin: false })).up(), (error) => {
      assert.match(String(error), /networking of the installation at \S+ is still in use: Configuration/);
      assert.match(String(error), /run once, and then take networking out of the installation/);
      return true;
    });
    await (await networked().stack({ peered: false })).up();
    await (await networked().stack({ peered: false, turin: false })).up();
    assert.deepEqual(await clients.turin.list(Network), []);
    const held = (await clients.turin.list(IP)).filter(({ metadata }) => metadata.finalizers?.length);
    assert.deepEqual(held, []);
    for (const [side, node] of networked().nodes()) {
      let now = "";
      try {
        await until(
          `${node} is as before`,
          async () => (now = await networkOf(side, node)) === initial.get(node),
        );
      } catch (error) {
        assert.equal(now, initial.get(node), `${node}: ${String(error)}`);
      }
    }
    const { changeSummary } = await (
      await networked().stack({ peered: false, turin: false })
    ).preview({ expectNoChanges: true });
    assert.deepEqual(Object.keys(changeSummary), ["same"]);
  });
});
