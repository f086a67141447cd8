/**
 * Three clusters, each connected with both others, whose networks overlap in every way that remapping allows; and what becomes of traffic when nodes and
 * gateways come and go.
 */
import assert from "node:assert/strict";

import { InternalFabric, InternalNode, IP } from "../../runtime/api";
import { auditEvents, describeRequest } from "../support/audit-log";
import { answers, sendBytes, startSink } from "../support/lab-traffic";
import type { LabAgent, LabPod } from "../support/lab-agent";
import { NetworkCluster } from "../support/network-cluster";
import { joinAll } from "../support/network-joining";
import type { NetworkClusterPlan } from "../support/network-plan";
import { type LabHost, NetworkLab } from "../support/network-lab";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

type Id = "rome" | "milan" | "turin";

const PLANS: Record<Id, NetworkClusterPlan> = {
  rome: {
    id: "rome",
    liqoNamespace: "liqo",
    podCidr: "10.160.0.0/12",
    serviceCidr: "10.96.0.0/16",
    externalCidr: "10.70.0.0/16",
    internalCidr: "10.80.0.0/16",
    router: "172.18.0.1/24",
    outside: "203.0.113.1/24",
    nodes: [
      { name: "rome-1", address: "172.18.0.2/24", podCidr: "10.160.2.0/23" },
      { name: "rome-2", address: "172.18.0.3/24", podCidr: "10.161.7.32/27" },
    ],
    behindNat: false,
  },
  // The same networks as rome; one node's pods lie among those of a node of rome.
  milan: {
    id: "milan",
    liqoNamespace: "liqo-system",
    podCidr: "10.160.0.0/12",
    serviceCidr: "10.96.0.0/16",
    externalCidr: "10.70.0.0/16",
    internalCidr: "10.80.0.0/16",
    router: "172.19.0.1/24",
    outside: "203.0.113.2/24",
    nodes: [
      { name: "milan-1", address: "172.19.0.2/24", podCidr: "10.160.2.32/27" },
      { name: "milan-2", address: "172.19.0.3/24", podCidr: "10.163.16.0/20" },
    ],
    behindNat: false,
  },
  // Its pods lie in the others' external network, and its external network and its overlay among their pods.
  turin: {
    id: "turin",
    liqoNamespace: "liqo",
    podCidr: "10.70.16.0/20",
    serviceCidr: "10.97.0.0/16",
    externalCidr: "10.168.0.0/23",
    internalCidr: "10.160.3.0/26",
    router: "172.20.0.1/24",
    outside: "203.0.113.3/24",
    nodes: [
      { name: "turin-1", address: "172.20.0.2/24", podCidr: "10.70.16.0/23" },
      { name: "turin-2", address: "172.20.0.3/24", podCidr: "10.70.31.224/27" },
    ],
    behindNat: false,
  },
};
const IDS = ["rome", "milan", "turin"] as const;
/** Client and server of each connection; the gateways are on the second node of each. */
const CONNECTIONS: readonly (readonly [Id, Id])[] = [
  ["rome", "turin"],
  ["milan", "rome"],
  ["turin", "milan"],
];
/** Where the server at turin is to be found once it has moved. */
const TURIN_LATER = "203.0.113.103";

describe("three clusters whose networks overlap", function () {
  this.timeout(300_000);
  const controlPlane = withControlPlanes({
    rome: { controllerManager: true, auditLog: true },
    milan: {},
    turin: {},
  });
  const lab = new NetworkLab();
  const clusters = new Map<Id, NetworkCluster>();
  const agents = new Map<string, LabAgent>();
  /** Of applications, by their node. */
  const pods = new Map<string, LabPod>();
  /** Of gateways, by cluster and peer. */
  const gateways = new Map<string, LabPod>();

  const cluster = (id: Id) => clusters.get(id) ?? assert.fail();
  const podOn = (node: string) => pods.get(node) ?? assert.fail();
  const nodesOf = (id: Id) => PLANS[id].nodes.map(({ name }) => name);

  before(async () => {
    await Promise.all(
      IDS.map(async (id) => clusters.set(id, await NetworkCluster.start(PLANS[id], lab, controlPlane(id)))),
    );
    await joinAll(lab, IDS.map(cluster), 1500);
    for (const id of IDS) {
      for (const node of nodesOf(id)) await startNode(id, node);
    }
    for (const [client, server] of CONNECTIONS) await connect(client, server);
  });

  afterEach(function () {
    if (this.currentTest?.state !== "failed") return;
    for (const [name, agent] of agents) console.error(`${name}\n${agent.log().slice(-1_500)}`);
  });

  after(async () => {
    await lab.close();
    for (const one of clusters.values()) await one.stop();
  });

  /** The agent of a node, and a pod that says who calls it. */
  async function startNode(id: Id, node: string): Promise<void> {
    agents.set(node, await cluster(id).agents.fabric(node));
    const pod = await cluster(id).pod(node, `on-${node}`);
    pods.set(node, pod);
    await startSink(pod.host, 8000);
  }

  async function connect(client: Id, server: Id): Promise<void> {
    await cluster(server).peer(PLANS[client]);
    const [address = ""] = PLANS[server].outside.split("/");
    const addresses = [address, ...(server === "turin" ? [TURIN_LATER] : [])];
    await cluster(client).peer(PLANS[server], { addresses, port: 51840 });
    await cluster(client).know(server, await cluster(server).publicKey(client));
    await cluster(server).know(client, await cluster(client).publicKey(server));
    await startGateway(server, client, "server", nodesOf(server)[1] ?? "");
    await startGateway(client, server, "client", nodesOf(client)[1] ?? "");
  }

  async function startGateway(id: Id, peer: Id, end: "server" | "client", node: string): Promise<void> {
    const name = `${id}-${peer}`;
    const pod = await cluster(id).gatewayPod(peer, node, `gw-${peer}-on-${node}`);
    gateways.set(name, pod);
    if (end === "server") await cluster(id).lan.publish(pod);
    agents.set(name, await cluster(id).agents.gateway(peer, end, pod));
  }

  async function endGateway(id: Id, peer: Id): Promise<void> {
    const name = `${id}-${peer}`;
    await agents.get(name)?.kill();
    agents.delete(name);
    await cluster(id).removePod(gateways.get(name) ?? assert.fail());
  }

  /** Sends from a pod to one of a peer; the peer has to see the address by which it knows the sender. */
  async function reaches(from: Id, sender: LabPod, to: Id, receiver: LabPod): Promise<void> {
    const target = await cluster(from).remapped(to, receiver.address);
    const known = await cluster(to).remapped(from, sender.address);
    await until(`${sender.name} reaches ${receiver.name} at ${target}`, () =>
      answers(sender.host, target, 8000),
    );
    const { source, bytes } = await sendBytes(sender.host, target, 8000, 10_000);
    assert.deepEqual([source, bytes], [known, 10_000], `${sender.name} to ${receiver.name}`);
  }

  /** Seconds until a pod of rome reaches both peers, and they it. */
  async function back(what: string, node: string): Promise<void> {
    const begin = performance.now();
    for (const peer of ["milan", "turin"] as const) {
      const [there = "", other = ""] = nodesOf(peer);
      await reaches("rome", podOn(node), peer, podOn(other));
      await reaches(peer, podOn(there), "rome", podOn(node));
    }
    console.log(
      `      ${what}: ${((performance.now() - begin) / 1000).toFixed(1)} s until all four ways pass`,
    );
  }

  /** For three seconds nothing is written any more: neither to any kernel nor, by us, to rome's API server. */
  async function atRest(): Promise<void> {
    let seen: string[] = [];
    await until(
      "nothing is written any more",
      async () => {
        const from = Date.now();
        const writes = async () => {
          const counts = [...agents.values()].map((agent) => agent.metric("liqo_kernel_writes_total"));
          return (await Promise.all(counts)).join();
        };
        const before = await writes();
        await new Promise((resolve) => setTimeout(resolve, 3_000));
        const after = await writes();
        seen = auditEvents(cluster("rome").auditLog, from)
          .filter(({ userAgent = "", verb }) => userAgent.startsWith("liqo-") && !/get|list|watch/.test(verb))
          .map(describeRequest);
        return before === after && seen.length === 0;
      },
      { timeoutMs: 60_000 },
    ).catch((error: unknown) => assert.fail(`${String(error)}: ${seen.join()}`));
  }

  it("reach each other from every node to every node, as who they are", async () => {
    for (const from of IDS) {
      for (const to of IDS.filter((id) => id !== from)) {
        for (const sender of nodesOf(from)) {
          for (const receiver of nodesOf(to)) await reaches(from, podOn(sender), to, podOn(receiver));
        }
      }
    }
  });

  it("know what is no pod of a peer by one address", async () => {
    for (const from of IDS) {
      for (const to of IDS.filter((id) => id !== from)) {
        const [unknown = ""] = PLANS[from].externalCidr.split("/");
        const known = await cluster(to).remapped(from, unknown);
        for (const [index, node] of nodesOf(from).entries()) {
          const receiver = podOn(nodesOf(to)[index] ?? "");
          const target = await cluster(from).remapped(to, receiver.address);
          const { host } = cluster(from).lan.nodeOf(node);
          assert.equal((await sendBytes(host, target, 8000, 10_000)).source, known, `${node} to ${to}`);
        }
      }
    }
    await atRest();
  });

  it("reach pods with the very addresses that a peer's overlay has", async () => {
    const { kube } = cluster("turin");
    const overlay = [
      ...(await kube.list(InternalNode)).map(({ spec }) => spec.interface.node.ip),
      ...(await kube.list(InternalFabric))
        .filter(({ metadata }) => metadata.namespace === "liqo-tenant-rome")
        .map(({ spec }) => spec.interface.gateway.ip),
    ];
    assert.equal(overlay.length, nodesOf("turin").length + 1);
    const { host, plan } = cluster("rome").lan.nodeOf("rome-1");
    assert.equal(plan.podCidr, "10.160.2.0/23");
    const node = cluster("rome").lan.nodeOf("rome-1");
    const { nextPod } = node;
    for (const address of overlay) {
      const [, , third = 0, fourth = 0] = address.split(".").map(Number);
      node.nextPod = (third - 2) * 256 + fourth - 1;
      const pod = await cluster("rome").pod("rome-1", `at-${address.replaceAll(".", "-")}`);
      assert.equal(pod.address, address, host.name);
      await startSink(pod.host, 8000);
      for (const other of nodesOf("turin")) {
        await reaches("turin", podOn(other), "rome", pod);
        await reaches("rome", pod, "turin", podOn(other));
      }
      await cluster("rome").removePod(pod);
    }
    node.nextPod = nextPod;
    await atRest();
  });

  it("reach a peer's peer through the hub between them, by an address that stands for it", async () => {
    const receiver = podOn("milan-2");
    const ref = { name: "at-milan", namespace: "default" };
    await cluster("rome").kube.create(IP, {
      apiVersion: "ipam.liqo.io/v1alpha1",
      kind: "IP",
      metadata: ref,
      spec: { ip: await cluster("rome").remapped("milan", receiver.address) },
    });
    const address = await until("the IP has its address", async () => {
      return (await cluster("rome").kube.get(IP, ref))?.status?.ip;
    });
    const target = await cluster("turin").remapped("rome", address);
    const { host } = podOn("turin-1");
    await until("a pod of turin reaches one of milan", () => answers(host, target, 8000));
    const { source, bytes } = await sendBytes(host, target, 8000, 10_000);
    // To milan it is somebody unknown at rome.
    const [unknown = ""] = PLANS.rome.externalCidr.split("/");
    assert.deepEqual([source, bytes], [await cluster("milan").remapped("rome", unknown), 10_000]);
    await cluster("rome").kube.delete(IP, ref);
  });

  it("go on when the controllers are others", async () => {
    await cluster("rome").restartControllers();
    await back("controllers", "rome-1");
    await atRest();
  });

  it("take in a node that is added, and forget one that is removed", async () => {
    await cluster("rome").addNode({
      name: "rome-3",
      address: "172.18.0.4/24",
      podCidr: "10.175.255.224/27",
    });
    await startNode("rome", "rome-3");
    await back("node added", "rome-3");
    await atRest();

    const gateway = gateways.get("rome-milan") ?? assert.fail();
    const { name } = (await cluster("rome").kube.get(InternalNode, { name: "rome-3" }))?.spec.interface
      .gateway ?? { name: assert.fail() };
    const traces = async (host: LabHost) =>
      await host.run(
        `(ip -o link; ip -4 rule; ip -4 route show table all; nft list ruleset) | grep -c -e ${name} -e rome-3 || true`,
      );
    assert.notEqual((await traces(gateway.host)).trim(), "0");
    await agents.get("rome-3")?.kill();
    agents.delete("rome-3");
    await cluster("rome").removePod(podOn("rome-3"));
    await cluster("rome").removeNode("rome-3");
    await until("the gateway knows nothing of the node", async () => {
      return (await traces(gateway.host)).trim() === "0";
    });
    await back("node removed", "rome-1");
    await atRest();
  });

  it("come back when a node begins anew", async () => {
    for (const node of ["rome-1", "rome-2"]) {
      const { host } = cluster("rome").lan.nodeOf(node);
      await agents.get(node)?.kill();
      // All that a reboot takes and no CNI plugin brings back.
      await host.run(`
        for link in $(ip -o link | grep -o 'liqo[^:@]*'); do ip link del $link; done
        ip -4 route flush table all proto 149
        ip -4 rule flush
        ip -4 rule add priority 32766 lookup main
        nft list tables | while read _ family name; do [ $name = cni ] || nft delete table $family $name; done
        conntrack -F 2>/dev/null`);
      assert.ok(
        !(await answers(
          podOn(node).host,
          await cluster("rome").remapped("milan", podOn("milan-1").address),
          8000,
        )),
      );
      agents.get(node)?.restart();
      await back(`${node} began anew`, node);
      await atRest();
    }
  });

  it("come back when the gateway is another pod on another node", async () => {
    await endGateway("rome", "turin");
    await startGateway("rome", "turin", "client", "rome-1");
    await back("the client's gateway moved", "rome-2");
    await endGateway("rome", "milan");
    // It gets the very address that a pod of milan has there.
    const { address } = podOn("milan-1");
    cluster("rome").lan.nodeOf("rome-1").nextPod = Number(address.split(".")[3]) - 1;
    await startGateway("rome", "milan", "server", "rome-1");
    assert.equal(gateways.get("rome-milan")?.address, address);
    await back("the server's gateway moved", "rome-2");
    await reaches("milan", podOn("milan-1"), "rome", podOn("rome-1"));
    await reaches("rome", podOn("rome-1"), "milan", podOn("milan-1"));
    await atRest();
  });

  it("come back when a server's address is another one", async () => {
    const [address = ""] = PLANS.turin.outside.split("/");
    // Nothing that leaves the server unasked gets out, so that its client has to find it.
    await cluster("turin").router.run(`
      ip addr add ${TURIN_LATER}/24 dev outside
      nft add table ip moved
      nft 'add chain ip moved in { type filter hook prerouting priority -300; }'
      nft add rule ip moved in ip daddr ${address} udp dport 51840 drop
      nft 'add chain ip moved through { type filter hook forward priority 0; }'
      nft add rule ip moved through oifname outside udp sport 51840 ct direction original drop
      conntrack -D -p udp --orig-port-dst 51840`);
    assert.ok(
      !(await answers(
        podOn("rome-1").host,
        await cluster("rome").remapped("turin", podOn("turin-1").address),
        8000,
      )),
    );
    await back("the server's address changed", "rome-1");
    await atRest();
  });
});
