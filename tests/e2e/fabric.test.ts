import assert from "node:assert/strict";

import {
  Configuration,
  DaemonSet,
  Event,
  FirewallConfiguration,
  GatewayClient,
  InternalNode,
  Node,
  Pod,
  RouteConfiguration,
} from "../../runtime/api";
import { eventAbout } from "../support/events";
import { answers, sendBytes, startSink } from "../support/lab-traffic";
import type { LabAgent, LabPod } from "../support/lab-agent";
import { NetworkCluster } from "../support/network-cluster";
import { joinTwo } from "../support/network-joining";
import { createNode } from "../support/network-objects";
import type { NetworkClusterPlan } from "../support/network-plan";
import { type LabHost, NetworkLab } from "../support/network-lab";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

/** Two clusters that have nothing in common: every address keeps its meaning on both sides. */
const rome: NetworkClusterPlan = {
  id: "rome",
  liqoNamespace: "liqo",
  podCidr: "10.42.0.0/16",
  serviceCidr: "10.43.0.0/16",
  externalCidr: "10.60.0.0/16",
  internalCidr: "10.61.0.0/20",
  router: "172.18.0.1/24",
  outside: "203.0.113.1/24",
  nodes: [
    { name: "rome-1", address: "172.18.0.2/24", podCidr: "10.42.0.0/24" },
    { name: "rome-2", address: "172.18.0.3/24", podCidr: "10.42.7.0/27" },
  ],
  behindNat: false,
};
const milan: NetworkClusterPlan = {
  id: "milan",
  liqoNamespace: "liqo-system",
  podCidr: "10.160.0.0/12",
  serviceCidr: "10.96.0.0/16",
  externalCidr: "10.70.0.0/16",
  internalCidr: "10.80.0.0/16",
  router: "172.19.0.1/24",
  outside: "203.0.113.2/24",
  nodes: [{ name: "milan-1", address: "172.19.0.2/24", podCidr: "10.161.0.0/16" }],
  behindNat: false,
};
describe("the agents on the nodes of two clusters", function () {
  this.timeout(300_000);
  const controlPlane = withControlPlanes({ rome: { controllerManager: true }, milan: {} });
  const lab = new NetworkLab();
  let consumer: NetworkCluster;
  let provider: NetworkCluster;
  /** What each node has without agents. */
  const bare = new Map<LabHost, string>();
  const fabrics = new Map<string, LabAgent>();
  const replicas: { pod: LabPod; agent: LabAgent }[] = [];
  let serverAgent: LabAgent;
  let a: LabPod;
  let b: LabPod;

  before(async () => {
    [consumer, provider] = await Promise.all([
      NetworkCluster.start(rome, lab, controlPlane("rome")),
      NetworkCluster.start(milan, lab, controlPlane("milan")),
    ]);
    await joinTwo(lab, consumer, provider, 1500);
    await provider.peer(rome);
    await consumer.peer(milan, { addresses: ["203.0.113.2"], port: 51840 });
    a = await consumer.pod("rome-1", "a");
    b = await provider.pod("milan-1", "b");
    const server = await provider.gatewayPod("rome", "milan-1", "gw-rome-a");
    await provider.lan.publish(server);
    await consumer.know("milan", await provider.publicKey("rome"));
    await provider.know("rome", await consumer.publicKey("milan"));
    serverAgent = await provider.agents.gateway("rome", "server", server);
    for (const node of ["rome-1", "rome-2"]) {
      const pod = await consumer.gatewayPod("milan", node, `gw-milan-${node}`, false);
      replicas.push({
        pod,
        agent: await consumer.agents.gateway("milan", "client", pod, ["--leader-election"]),
      });
    }
    const daemonSet = await createDaemonSet(provider);
    for (const cluster of [consumer, provider]) {
      for (const [name, { host }] of cluster.lan.nodes) {
        await addThingsOfOthers(host);
        bare.set(host, await everythingOf(host));
        const flags = cluster === provider ? await createAgentPod(provider, daemonSet) : [];
        fabrics.set(name, await cluster.agents.fabric(name, flags));
      }
    }
    await Promise.all([startSink(a.host, 8000), startSink(b.host, 8000)]);
  });

  afterEach(function () {
    if (this.currentTest?.state !== "failed") return;
    for (const agent of [...fabrics.values(), ...replicas.map((one) => one.agent), serverAgent]) {
      console.error(agent.log().slice(-1_500));
    }
  });

  after(async () => {
    await lab.close();
    await consumer?.stop();
    await provider?.stop();
  });

  const ruled = async (node: string) =>
    (await consumer.lan.nodeOf(node).host.run("ip -4 rule; nft list ruleset")).includes("10.160.0.0/12");
  const untilRuled = (node: string, expected: boolean) =>
    until(`${node} sends there: ${expected}`, async () => (await ruled(node)) === expected);

  it("bring pods together with the addresses that they have", async () => {
    await consumer.untilConnected("milan");
    await until("a pod reaches a pod of the other cluster", () => answers(a.host, b.address, 8000));
    assert.equal((await sendBytes(a.host, b.address, 8000, 1_000_000)).source, a.address);
    assert.equal((await sendBytes(b.host, a.address, 8000, 1_000_000)).source, b.address);
  });

  it("let nodes reach pods of the other cluster as unknown senders", async () => {
    for (const { host } of consumer.lan.nodes.values()) {
      assert.equal((await sendBytes(host, b.address, 8000, 10_000)).source, "10.60.0.0");
    }
    const [{ host } = assert.fail()] = provider.lan.nodes.values();
    assert.equal((await sendBytes(host, a.address, 8000, 10_000)).source, "10.70.0.0");
  });

  it("reach each other all the while that a peer has their network, which gets another place", async () => {
    const [one, two] = ["rome-1", "rome-2"].map((node) => consumer.lan.nodeOf(node).host);
    assert.ok(one && two);
    await startSink(two, 8001);
    const spec = { remote: { cidr: { pod: ["172.18.0.0/16"], external: ["203.0.113.0/24"] } } };
    const labels = { "liqo.io/remote-cluster-id": "turin" };
    const metadata = { name: "turin", namespace: "default", labels };
    const { apiVersion, kind } = Configuration;
    await consumer.kube.create(Configuration, { apiVersion, kind, metadata, spec });
    await until("its masquerading is on the nodes", async () =>
      (await one.run("nft list tables")).includes("turin-masquerade-bypass"),
    );
    assert.equal((await sendBytes(one, "172.18.0.3", 8001, 1_000)).source, "172.18.0.2");
    assert.match(await one.run("ip -4 route get 172.18.0.1"), /dev eth0/);
    await consumer.kube.delete(Configuration, metadata);
  });

  it("take back at once, and by themselves, what goes over an address that they get", async () => {
    const { host } = consumer.lan.nodeOf("rome-1");
    await host.run("ip addr add 10.161.77.7/32 dev eth0");
    await untilRuled("rome-1", false);
    assert.equal(await ruled("rome-2"), true);
    const about = { kind: "RouteConfiguration", name: "milan-node-gw", namespace: "liqo-tenant-milan" };
    assert.match(
      await eventAbout(consumer.kube, about, "RoutesNotApplied"),
      /^rome-1: 10\.160\.0\.0\/12 holds 10\.161\.77\.7, an address of this node/,
    );
    await host.run("ip addr del 10.161.77.7/32 dev eth0");
    await until("traffic comes back", () => answers(a.host, b.address, 8000));
  });

  it("send nothing over a node that comes later", async () => {
    await createNode(consumer.kube, { name: "rome-9", address: "10.162.0.9/24", podCidr: "10.42.9.0/24" });
    for (const node of ["rome-1", "rome-2"]) await untilRuled(node, false);
    const milanHere = { name: "milan", namespace: "liqo-tenant-milan" };
    const { status } = (await consumer.kube.get(Configuration, milanHere)) ?? {};
    assert.match(status?.conditions?.[0]?.message ?? "", /10\.162\.0\.9, the InternalIP of Node rome-9/);
    await consumer.kube.delete(Node, { name: "rome-9" });
    await until("traffic comes back", () => answers(a.host, b.address, 8000));
  });

  it("say what they have done: a condition each, an address and an encapsulation", async () => {
    const nodes = await until("each InternalNode is answered", async () => {
      const all = await consumer.kube.list(InternalNode);
      const answered = all.every(
        ({ metadata, status }) => status?.observedGeneration === metadata.generation,
      );
      return all.length > 0 && answered && all;
    });
    for (const { metadata, status } of nodes) {
      assert.ok(status?.nodeIP.local ?? status?.nodeIP.remote, metadata.name);
      assert.match(metadata.annotations?.["networking.liqo.io/overlay"] ?? "", /^(geneve|vxlan)$/);
    }
    await until("every configuration is applied on every node", async () => {
      const objects = [
        ...(await consumer.kube.list(FirewallConfiguration)),
        ...(await consumer.kube.list(RouteConfiguration)),
      ].filter(({ metadata }) =>
        Object.entries(metadata.labels ?? {}).some(
          ([key, value]) => /\/(firewall|route)-category$/.test(key) && value === "fabric",
        ),
      );
      return (
        objects.length > 0 &&
        objects.every(({ status }) => {
          const applied = (status?.conditions ?? []).filter(({ status: is }) => is === "True");
          return (
            applied
              .map(({ host }) => host)
              .sort()
              .join() === "rome-1,rome-2"
          );
        })
      );
    });
  });

  it("leave a table alone that somebody else has, and say so", async () => {
    const { host } = consumer.lan.nodeOf("rome-1");
    await host.run(`
      nft add table ip theirs
      nft 'add chain ip theirs in { type filter hook input priority 0; }'
      nft add rule ip theirs in tcp dport 9999 drop`);
    const before = await host.run("nft list table ip theirs");
    const ref = { name: "theirs", namespace: "default" };
    await consumer.kube.create(FirewallConfiguration, {
      apiVersion: FirewallConfiguration.apiVersion,
      kind: FirewallConfiguration.kind,
      metadata: {
        ...ref,
        labels: {
          "networking.liqo.io/firewall-category": "fabric",
          "networking.liqo.io/firewall-subcategory": "all-nodes",
        },
      },
      spec: { table: { name: "theirs", family: "IPV4", chains: [] } },
    });
    const conditions = async () =>
      (await consumer.kube.get(FirewallConfiguration, ref))?.status?.conditions ?? [];
    const of = (list: Awaited<ReturnType<typeof conditions>>, node: string) =>
      list.find(({ host: name }) => name === node)?.status;
    await until("each node has its condition", async () => {
      const list = await conditions();
      return of(list, "rome-1") === "False" && of(list, "rome-2") === "True";
    });
    const [told] = (await consumer.kube.list(Event, { namespace: "default" })).filter(
      ({ reason, involvedObject }) => reason === "TableNotApplied" && involvedObject.name === "theirs",
    );
    assert.match(
      told?.message ?? "",
      /spec\.table\.name "theirs": there is a table ip theirs already that is not ours.*choose another/,
    );
    await consumer.kube.delete(FirewallConfiguration, ref);
    await until("the other node has none of it", async () => {
      const tables = await consumer.lan.nodeOf("rome-2").host.run("nft list tables");
      return !tables.includes("theirs");
    });
    assert.equal(await host.run("nft list table ip theirs"), before);
    await host.run("nft delete table ip theirs");
  });

  it("say of a route what it has waited for, once that is long", async () => {
    const ref = { name: "nowhere", namespace: "default" };
    await consumer.kube.create(RouteConfiguration, {
      apiVersion: RouteConfiguration.apiVersion,
      kind: RouteConfiguration.kind,
      metadata: { ...ref, labels: { "networking.liqo.io/route-category": "fabric" } },
      spec: {
        table: {
          name: "nowhere",
          rules: [{ dst: "10.99.0.0/24", routes: [{ dst: "10.99.0.0/24", dev: "nosuch" }] }],
        },
      },
    });
    const message = await eventAbout(
      consumer.kube,
      { kind: "RouteConfiguration", ...ref },
      "RoutesNotApplied",
    );
    assert.match(message, /^rome-[12]: "ip route .*dev nosuch.*" was refused: .*Cannot find device "nosuch"/);
    const { status } = (await consumer.kube.get(RouteConfiguration, ref)) ?? {};
    assert.deepEqual(new Set(status?.conditions?.map((each) => each.status)), new Set(["False"]));
    await consumer.kube.delete(RouteConfiguration, ref);
  });

  it("follow the gateway to its other replica when the first is gone", async () => {
    const active = async () => {
      const pods = await consumer.kube.list(Pod, { namespace: "liqo-tenant-milan" });
      return pods
        .filter(({ metadata }) => metadata.labels?.["networking.liqo.io/active"] === "true")
        .map(({ metadata }) => metadata.name);
    };
    // Which one it is may change while the machine is busy.
    const only = () =>
      until("one replica is active", async () => {
        const names = await active();
        return names.length === 1 && names[0];
      });
    const first = await only();
    const gone = replicas.find(({ pod }) => pod.name === first);
    assert.ok(gone, first);
    const begin = Date.now();
    await gone.pod.host.close();
    await until("traffic comes back", () => answers(a.host, b.address, 8000), { timeoutMs: 60_000 });
    console.log(`      after ${((Date.now() - begin) / 1000).toFixed(1)} s`);
    assert.notEqual(await only(), first);
  });

  it("leave nothing behind when the peering ends, and touch nothing of others", async () => {
    const ref = { name: "milan", namespace: "liqo-tenant-milan" };
    await consumer.kube.delete(GatewayClient, ref);
    await consumer.kube.delete(Configuration, ref);
    for (const { host } of consumer.lan.nodes.values()) await untilBare(host, bare);
  });

  it("stay in place when an agent makes room for the next, and go with the last", async () => {
    const [{ host } = assert.fail()] = provider.lan.nodes.values();
    const agent = fabrics.get("milan-1") ?? assert.fail();
    const before = await everythingOf(host);
    assert.notEqual(before, bare.get(host));
    await agent.terminate();
    assert.equal(await everythingOf(host), before);
    agent.restart();
    await agent.untilReady();
    await provider.kube.delete(DaemonSet, { name: "liqo-fabric", namespace: "liqo-system" });
    await agent.terminate();
    await untilBare(host, bare);
  });
});

/** What other software has on nodes: a firewall, rules and tables of its own, an overlay. */
async function addThingsOfOthers(host: LabHost): Promise<void> {
  await host.run(`
    nft add table inet firewall
    nft 'add chain inet firewall forward { type filter hook forward priority 0; policy drop; }'
    nft add rule inet firewall forward ct state invalid drop
    nft add rule inet firewall forward accept
    ip rule add fwmark 0x10/0xff priority 90 lookup 4242
    ip route add blackhole 198.51.100.0/24 table 4242
    ip link add flannel.1 type vxlan id 1 remote 192.0.2.7 dstport 8472
    ip addr add 192.0.2.1/32 dev flannel.1
    ip link set flannel.1 up`);
}

/** Interfaces, addresses, rules, routes and tables of a host, without the wires of pods, which come and go. */
async function everythingOf(host: LabHost): Promise<string> {
  return await host.run(`
    ip -o link show | sed -E 's/^[0-9]+: //' | grep -v '^pod' | sort
    ip -4 -o addr show | sed -E 's/^[0-9]+: //' | grep -v '^pod' | sort
    ip -4 rule show
    ip -4 route show table all | grep -v 'dev pod' | sort
    nft list ruleset`);
}

async function untilBare(host: LabHost, bare: ReadonlyMap<LabHost, string>): Promise<void> {
  const wanted = bare.get(host);
  await until(`${host.name} is as it was before`, async () => (await everythingOf(host)) === wanted, {
    timeoutMs: 60_000,
    everyMs: 250,
  }).catch(async () => assert.equal(await everythingOf(host), wanted));
}

const agentLabels = { "app.kubernetes.io/name": "fabric" };

async function createDaemonSet(cluster: NetworkCluster): Promise<DaemonSet> {
  return await cluster.kube.create(DaemonSet, {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "liqo-fabric", namespace: cluster.plan.liqoNamespace },
    spec: {
      selector: { matchLabels: agentLabels },
      template: {
        metadata: { labels: agentLabels },
        spec: { containers: [{ name: "fabric", image: "none" }] },
      },
    },
  });
}

/** The object of an agent's pod; returns the flags by which the agent knows it. */
async function createAgentPod(cluster: NetworkCluster, { metadata }: DaemonSet): Promise<string[]> {
  const name = "liqo-fabric-abcde";
  const { liqoNamespace: namespace } = cluster.plan;
  await cluster.ensureAccount(namespace);
  await cluster.kube.create(Pod, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace,
      labels: agentLabels,
      ownerReferences: [
        {
          apiVersion: "apps/v1",
          kind: "DaemonSet",
          name: metadata.name,
          uid: metadata.uid ?? "",
          controller: true,
        },
      ],
    },
    spec: { automountServiceAccountToken: false, containers: [{ name: "fabric", image: "none" }] },
  });
  return [`--podname=${name}`, `--pod-namespace=${namespace}`];
}
