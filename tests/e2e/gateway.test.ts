import assert from "node:assert/strict";

import { Secret } from "../../runtime/api";
import { generateWireGuardKeyPair } from "../../runtime/identity";
import { auditEvents, describeRequest } from "../support/audit-log";
import { eventAbout } from "../support/events";
import {
  answers,
  echoDatagram,
  echoDatagrams,
  sendBytes,
  startDatagramEcho,
  startSink,
} from "../support/lab-traffic";
import { startLossyPath } from "../support/lossy-path";
import type { LabAgent, LabPod } from "../support/lab-agent";
import { NetworkCluster } from "../support/network-cluster";
import { joinTwo } from "../support/network-joining";
import type { NetworkClusterPlan } from "../support/network-plan";
import { NetworkLab } from "../support/network-lab";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

/** Two clusters with the same networks throughout; each sees the other's pods as 10.71.0.0/16, and the rest of it as 10.68.0.0/16. */
const same = {
  podCidr: "10.243.0.0/16",
  serviceCidr: "10.95.0.0/16",
  externalCidr: "10.70.0.0/16",
  internalCidr: "10.80.0.0/16",
};
const rome: NetworkClusterPlan = {
  id: "rome",
  liqoNamespace: "liqo",
  ...same,
  router: "172.18.0.1/24",
  outside: "203.0.113.1/24",
  nodes: [
    { name: "rome-1", address: "172.18.0.2/24", podCidr: "10.243.1.0/24" },
    { name: "rome-2", address: "172.18.0.3/24", podCidr: "10.243.2.0/24" },
  ],
  behindNat: true,
};
const milan: NetworkClusterPlan = {
  id: "milan",
  liqoNamespace: "liqo-system",
  ...same,
  router: "172.19.0.1/24",
  outside: "203.0.113.2/24",
  nodes: [
    { name: "milan-1", address: "172.19.0.2/24", podCidr: "10.243.1.0/24" },
    { name: "milan-2", address: "172.19.0.3/24", podCidr: "10.243.2.0/24" },
  ],
  behindNat: false,
};
/** How a cluster sees an address of the other. */
const remapped = (address: string) => address.replace(/^10\.243\./, "10.71.");
const UNKNOWN_SOURCE = "10.68.0.0";
/** An underlay as narrow as some providers' own overlays leave it. */
const UNDERLAY_MTU = 1420;
const LOSSY = { delayMs: 25, loss: 0.01 };

describe("gateways of two clusters with the same networks", function () {
  this.timeout(300_000);
  const controlPlane = withControlPlanes({ rome: { auditLog: true }, milan: {} });
  const lab = new NetworkLab();
  let consumer: NetworkCluster;
  let provider: NetworkCluster;
  let client: LabPod;
  let server: LabPod;
  let clientAgent: LabAgent;
  let serverAgent: LabAgent;
  const fabrics: LabAgent[] = [];
  let a: LabPod;
  let b: LabPod;

  before(async () => {
    [consumer, provider] = await Promise.all([
      NetworkCluster.start(rome, lab, controlPlane("rome")),
      NetworkCluster.start(milan, lab, controlPlane("milan")),
    ]);
    await joinTwo(lab, consumer, provider, UNDERLAY_MTU);
    await provider.peer(rome);
    await consumer.peer(milan, { addresses: ["203.0.113.2"], port: 51840 });
    for (const cluster of [consumer, provider]) {
      for (const name of cluster.lan.nodes.keys()) fabrics.push(await cluster.agents.fabric(name));
    }
    server = await provider.gatewayPod("rome", "milan-2", "gw-rome-a");
    client = await consumer.gatewayPod("milan", "rome-2", "gw-milan-a");
    await provider.lan.publish(server);
    await consumer.know("milan", await provider.publicKey("rome"));
    await provider.know("rome", await consumer.publicKey("milan"));
    serverAgent = await provider.agents.gateway("rome", "server", server);
    clientAgent = await consumer.agents.gateway("milan", "client", client);
    a = await consumer.pod("rome-1", "a");
    b = await provider.pod("milan-1", "b");
    await startSink(a.host, 8000);
    await startSink(b.host, 8000);
    await Promise.all([...fabrics, serverAgent, clientAgent].map((agent) => agent.untilReady()));
  });

  afterEach(function () {
    if (this.currentTest?.state !== "failed" || clientAgent === undefined) return;
    for (const [what, agent] of Object.entries({ clientAgent, serverAgent })) {
      console.error(`${what}\n${agent.log().slice(-3_000)}`);
    }
  });

  after(async () => {
    await lab.close();
    await consumer?.stop();
    await provider?.stop();
  });

  const passes = async (timeoutMs: number) => {
    await until(
      "a pod reaches a pod of the other cluster",
      () => answers(a.host, remapped(b.address), 8000),
      {
        timeoutMs,
        everyMs: 100,
      },
    );
  };

  it("connect, and say so", async () => {
    await Promise.all([consumer.untilConnected("milan"), provider.untilConnected("rome")]);
    const connection = await until("the Connection is answered", async () => {
      const found = await consumer.connection("milan");
      return found?.status?.observedGeneration === found?.metadata.generation && found;
    });
    assert.equal(connection.spec.type, "Client");
    assert.match(connection.status?.latency?.value ?? "", /^\d+(ms|\u03bcs)$/);
    await passes(60_000);
  });

  it("carry 100 MB each way over a narrow underlay, from the address that each side knows", async () => {
    const bytes = 100_000_000;
    const there = await sendBytes(a.host, remapped(b.address), 8000, bytes);
    assert.deepEqual([there.bytes, there.source], [bytes, remapped(a.address)]);
    const back = await sendBytes(b.host, remapped(a.address), 8000, bytes);
    assert.deepEqual([back.bytes, back.source], [bytes, remapped(b.address)]);
    console.log(
      `      ${[there, back].map(({ seconds }) => `${((bytes * 8) / seconds / 1e6).toFixed(0)} Mbit/s`).join(", ")}`,
    );
  });

  it("carry datagrams of 1,300 bytes and back", async () => {
    await Promise.all([startDatagramEcho(a.host, 9000), startDatagramEcho(b.host, 9000)]);
    assert.equal(await echoDatagram(a.host, remapped(b.address), 9000, 1300), 1300);
    assert.equal(await echoDatagram(b.host, remapped(a.address), 9000, 1300), 1300);
  });

  it("do so where the path takes 50 ms and loses one packet in a hundred", async function () {
    await provider.lan.pathToGateway(server, (path) =>
      startLossyPath(provider.router, { ...path, ...LOSSY }),
    );
    await passes(60_000);
    const [flows, bytes] = [16, 100_000_000];
    for (const [from, to, known] of [
      [a, b, remapped(a.address)],
      [b, a, remapped(b.address)],
    ] as const) {
      const sent = await Promise.all(
        Array.from({ length: flows }, () => sendBytes(from.host, remapped(to.address), 8000, bytes / flows)),
      );
      const seconds = Math.max(...sent.map((one) => one.seconds));
      assert.deepEqual(
        sent.map((one) => [one.bytes, one.source]),
        sent.map(() => [bytes / flows, known]),
      );
      const echoed = await echoDatagrams(from.host, remapped(to.address), 9000, { bytes: 1300, count: 300 });
      console.log(`      ${((bytes * 8) / seconds / 1e6).toFixed(0)} Mbit/s, ${echoed} of 300 datagrams`);
      assert.ok(echoed >= 270, `${echoed} of 300 datagrams came back`);
    }
    await until("the path's delay is told", async () => {
      return (await clientAgent.metric("liqo_peer_latency_us")) >= 50_000;
    });
    await provider.lan.publish(server);
    await passes(60_000);
  });

  it("carry what nodes send, from the address of unknown senders, and bring the answers to the right node", async () => {
    for (const { host } of [...consumer.lan.nodes.values()]) {
      const { bytes, source } = await sendBytes(host, remapped(b.address), 8000, 10_000);
      assert.deepEqual([bytes, source], [10_000, UNKNOWN_SOURCE]);
    }
  });

  it("tell of the tunnel in their metrics", async () => {
    const text = await clientAgent.metrics();
    for (const line of [
      /^liqo_peer_is_connected\{driver="wireguard",cluster_id="milan"\} 1$/m,
      /^liqo_wireguard_implementation\{driver="wireguard",implementation="(kernel|userspace)"\} 1$/m,
      /^liqo_peer_latency_us\{driver="wireguard",cluster_id="milan"\} \d/m,
      /^liqo_peer_latency_histogram_us_count\{driver="wireguard",cluster_id="milan"\} \d/m,
      /^liqo_peer_handshake_age_seconds\{.*\} \d/m,
      /^liqo_peer_packet_loss_ratio\{.*\} \d/m,
      /^liqo_tunnel_mtu_bytes\{.*\} 1340$/m,
    ]) {
      assert.match(text, line);
    }
    assert.ok((await clientAgent.metric("liqo_peer_transmit_bytes_total")) > 100_000_000);
    assert.ok((await serverAgent.metric("liqo_peer_receive_bytes_total")) > 100_000_000);
  });

  it("go on while an agent is dead, and the next one writes nothing", async () => {
    const agents = [clientAgent, serverAgent, ...fabrics];
    await Promise.all(agents.map((agent) => agent.kill()));
    assert.ok(await answers(a.host, remapped(b.address), 8000), "traffic goes on without agents");
    const from = Date.now();
    for (const agent of agents) agent.restart();
    await Promise.all(agents.map((agent) => agent.untilReady()));
    await until(
      "the new process pings",
      async () => (await clientAgent.metric("liqo_peer_is_connected")) === 1,
    );
    await settled(agents);
    for (const agent of agents) {
      assert.equal(await agent.metric("liqo_kernel_writes_total"), 0, agent.log().slice(-3_000));
    }
    const writes = auditEvents(consumer.auditLog, from)
      .filter(
        ({ userAgent = "", verb }) =>
          /^liqo-(gateway|fabric)/.test(userAgent) && !/get|list|watch/.test(verb),
      )
      .map(describeRequest);
    assert.deepEqual(writes, []);
    assert.ok(await answers(a.host, remapped(b.address), 8000));
  });

  it("put back what somebody else removed", async () => {
    await client.host.run(`
      nft flush ruleset
      ip rule flush
      ip rule add priority 32766 lookup main
      for link in $(ip -o link show type vxlan | cut -d: -f2); do ip link del $link; done`);
    await passes(60_000);
    await client.host.run("ip link del liqo-tunnel");
    await passes(60_000);
  });

  it("say that they wait, and why, while their kernel drops what comes from nodes", async () => {
    const reversePathFilter = (value: number) =>
      client.host.run(`sysctl -qw net.ipv4.conf.all.rp_filter=${value}`);
    const value = async () => (await consumer.connection("milan"))?.status?.value;
    await reversePathFilter(1);
    await until("the Connection waits", async () => (await value()) === "Connecting", { timeoutMs: 15_000 });
    const gateway = { kind: "GatewayClient", name: "milan", namespace: "liqo-tenant-milan" };
    assert.match(
      await eventAbout(consumer.kube, gateway, "ForwardingRefused"),
      /rp_filter is 1.*set it to 2/,
    );
    await reversePathFilter(2);
    await consumer.untilConnected("milan", 15_000);
    await passes(15_000);
  });

  it("come back by themselves when the server's pod is another one, elsewhere", async () => {
    await serverAgent.kill();
    await provider.removePod(server);
    server = await provider.gatewayPod("rome", "milan-1", "gw-rome-b");
    await provider.lan.publish(server);
    serverAgent = await provider.agents.gateway("rome", "server", server);
    const begin = Date.now();
    await passes(60_000);
    console.log(`      after ${((Date.now() - begin) / 1000).toFixed(1)} s`);
    assert.equal((await sendBytes(b.host, remapped(a.address), 8000, 10_000)).source, remapped(b.address));
  });

  it("follow new keys", async () => {
    const { publicKey, privateKey } = generateWireGuardKeyPair();
    await provider.kube.patch(
      Secret,
      { name: "gw-rome", namespace: "liqo-tenant-rome" },
      { data: { publicKey, privateKey } },
      { type: "merge" },
    );
    await provider.agents.mountKeys("rome");
    await consumer.know("milan", publicKey);
    await until(
      "the server has the new key",
      async () => (await server.host.run("wg show liqo-tunnel public-key")).trim() === publicKey,
    );
    await passes(60_000);
  });
});

/** Until the passes of agents have nothing to do for a while. */
async function settled(agents: readonly LabAgent[]): Promise<void> {
  let before = "";
  await until("the agents have come to rest", async () => {
    const counts = await Promise.all(agents.map((agent) => agent.metric("liqo_reconcile_total")));
    const now = counts.join();
    const same = now === before;
    before = now;
    return same;
  });
}
