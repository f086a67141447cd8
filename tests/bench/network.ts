/**
 * `npm run bench -- network [--rounds 3] [--seconds 4] [--rate 200]`
 *
 * Throughput and latency from a pod of one cluster to a pod of another, through both gateways, in turns in the same run beside two controls without
 * anything of ours: "same way", a WireGuard tunnel between the same two gateway pods with plain routes over the same nodes, and "direct", a tunnel from
 * pod to pod, which has fewer hops. The WireGuard of all is the kernel's where there is one, else wireguard-go.
 *
 * `npm run bench -- network --peers 1,4,16`: how long it takes until that many peers at once are connected, and what is written at rest.
 */
import { parseArgs } from "node:util";

import { startControlPlane } from "../../provider/local-cluster/control-plane";
import { generateWireGuardKeyPair } from "../../runtime/identity";
import { answers, blast, type Latencies, requestAtRate, startEcho, startSink } from "../support/lab-traffic";
import type { LabPod } from "../support/lab-agent";
import { NetworkCluster } from "../support/network-cluster";
import { joinTwo } from "../support/network-joining";
import type { NetworkClusterPlan } from "../support/network-plan";
import { NetworkLab } from "../support/network-lab";
import { quantile, spread } from "../support/statistics";
import { until } from "../support/until";
import { networkPeers } from "./network-peers";

const common = { serviceCidr: "10.95.0.0/16", externalCidr: "10.70.0.0/16", internalCidr: "10.80.0.0/16" };
const rome: NetworkClusterPlan = {
  id: "rome",
  liqoNamespace: "liqo",
  ...common,
  podCidr: "10.243.0.0/16",
  router: "172.18.0.1/24",
  outside: "203.0.113.1/24",
  nodes: [
    { name: "rome-1", address: "172.18.0.2/24", podCidr: "10.243.1.0/24" },
    { name: "rome-2", address: "172.18.0.3/24", podCidr: "10.243.2.0/24" },
  ],
  behindNat: true,
};
const milan: NetworkClusterPlan = {
  ...rome,
  id: "milan",
  liqoNamespace: "liqo-system",
  router: "172.19.0.1/24",
  outside: "203.0.113.2/24",
  nodes: [
    { name: "milan-1", address: "172.19.0.2/24", podCidr: "10.243.1.0/24" },
    { name: "milan-2", address: "172.19.0.3/24", podCidr: "10.243.2.0/24" },
  ],
  behindNat: false,
};
const FLOWS = [1, 4, 16];
const MTU = 1340;
const DIRECT = { port: 51999, a: "198.18.0.1", b: "198.18.0.2" };
const SAME_WAY = { port: 51998, a: "198.19.1.1", b: "198.19.1.2" };

export async function network(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: "string", default: "3" },
      seconds: { type: "string", default: "4" },
      rate: { type: "string", default: "200" },
      peers: { type: "string" },
    },
  });
  if (values.peers !== undefined) return await networkPeers(values.peers.split(",").map(Number));
  const [rounds, seconds, rate] = [values.rounds, values.seconds, values.rate].map(Number);
  if (!rounds || !seconds || !rate) throw new Error("--rounds, --seconds and --rate are numbers above zero");
  const lab = new NetworkLab();
  const stops: (() => Promise<void>)[] = [() => lab.close()];
  try {
    const planes = await Promise.all(["rome", "milan"].map((name) => startControlPlane({ name })));
    for (const plane of planes) stops.push(() => plane.stop());
    const [romePlane, milanPlane] = planes;
    if (romePlane === undefined || milanPlane === undefined) throw new Error("no control planes");
    const consumer = await NetworkCluster.start(rome, lab, romePlane);
    stops.push(() => consumer.stop());
    const provider = await NetworkCluster.start(milan, lab, milanPlane);
    stops.push(() => provider.stop());
    const { a, b, seen, gateways } = await peered(lab, consumer, provider);
    await directTunnel(provider, a, b);
    await tunnelTheSameWay({ consumer, provider, a, b, ...gateways });
    for (const address of [DIRECT.b, SAME_WAY.b]) {
      await until(`the control at ${address}`, () => answers(a.host, address, 8000));
    }
    await measure(a, { ours: seen, "same way": SAME_WAY.b, direct: DIRECT.b }, { rounds, seconds, rate });
  } finally {
    for (const stop of stops) await stop();
  }
}

/** Both clusters with their gateways on other nodes than the pods, and a pod on each side. */
async function peered(lab: NetworkLab, consumer: NetworkCluster, provider: NetworkCluster) {
  await joinTwo(lab, consumer, provider, 1500);
  const begin = Date.now();
  await provider.peer(rome);
  await consumer.peer(milan, { addresses: ["203.0.113.2"], port: 51840 });
  for (const cluster of [consumer, provider]) {
    for (const node of cluster.lan.nodes.keys()) await cluster.agents.fabric(node);
  }
  const server = await provider.gatewayPod("rome", "milan-2", "gw-rome");
  const client = await consumer.gatewayPod("milan", "rome-2", "gw-milan");
  await provider.lan.publish(server);
  await consumer.know("milan", await provider.publicKey("rome"));
  await provider.know("rome", await consumer.publicKey("milan"));
  await provider.agents.gateway("rome", "server", server);
  const agent = await consumer.agents.gateway("milan", "client", client);
  const a = await consumer.pod("rome-1", "a");
  const b = await provider.pod("milan-1", "b");
  await startSink(b.host, 8000);
  await startEcho(b.host, 8001);
  const seen = await consumer.remapped("milan", b.address);
  await until("the pods reach each other", () => answers(a.host, seen, 8000), { timeoutMs: 120_000 });
  const implementation = /implementation="(\w+)"/.exec(await agent.metrics())?.[1] ?? "?";
  process.stdout.write(
    `peered after ${((Date.now() - begin) / 1000).toFixed(1)} s, processes of the agents and pods included; WireGuard: ${implementation}\n`,
  );
  return { a, b, seen, gateways: { server, client } };
}

/** Commands that make a WireGuard interface with one peer. */
function wireGuard(
  name: string,
  { own, address, peer }: { own: string; address: string; peer: string },
): string {
  return `
    ip link add ${name} type wireguard 2>/dev/null || wireguard-go ${name} >/dev/null 2>&1
    echo '${own}' | wg set ${name} private-key /dev/stdin ${peer}
    ip link set ${name} mtu ${MTU} up
    ip addr add ${address} dev ${name}`;
}

/** A tunnel between two hosts; the second one waits to be called at a port of its cluster's router. */
async function tunnel(
  name: string,
  port: number,
  provider: NetworkCluster,
  [a, addressOfA]: [LabPod, string],
  [b, addressOfB]: [LabPod, string],
): Promise<void> {
  const [left, right] = [generateWireGuardKeyPair(), generateWireGuardKeyPair()];
  await provider.router.run(`
    ip route replace ${b.address} via ${provider.lan.addressOf(b.node)}
    nft add table ip ${name}
    nft 'add chain ip ${name} in { type nat hook prerouting priority -100; }'
    nft add rule ip ${name} in iifname outside udp dport ${port} dnat to ${b.address}`);
  const all = "allowed-ips 0.0.0.0/0";
  const waits = `listen-port ${port} peer '${left.publicKey}' ${all}`;
  await b.host.run(wireGuard(name, { own: right.privateKey, address: addressOfB, peer: waits }));
  const calls = `peer '${right.publicKey}' ${all} endpoint 203.0.113.2:${port}`;
  await a.host.run(wireGuard(name, { own: left.privateKey, address: addressOfA, peer: calls }));
}

/** From pod to pod. */
async function directTunnel(provider: NetworkCluster, a: LabPod, b: LabPod): Promise<void> {
  await tunnel("direct", DIRECT.port, provider, [a, `${DIRECT.a}/24`], [b, `${DIRECT.b}/24`]);
}

/** From gateway to gateway, with plain routes from the pods over the nodes: each packet takes the hops that it takes with us. */
async function tunnelTheSameWay(lab: {
  consumer: NetworkCluster;
  provider: NetworkCluster;
  a: LabPod;
  b: LabPod;
  client: LabPod;
  server: LabPod;
}): Promise<void> {
  const { consumer, provider, a, b, client, server } = lab;
  await tunnel("same", SAME_WAY.port, provider, [client, "198.19.0.1/30"], [server, "198.19.0.2/30"]);
  for (const { cluster, pod, gateway, own, other } of [
    { cluster: consumer, pod: a, gateway: client, own: SAME_WAY.a, other: SAME_WAY.b },
    { cluster: provider, pod: b, gateway: server, own: SAME_WAY.b, other: SAME_WAY.a },
  ]) {
    const wireOf = (address: string) =>
      `$(ip -4 route show ${address} | grep -o 'dev [^ ]*' | head -n 1 | cut -d' ' -f2)`;
    const [ofPod, ofGateway] = [cluster.lan.nodeOf(pod.node).host, cluster.lan.nodeOf(gateway.node).host];
    await pod.host.run(`
      ip addr add ${own}/32 dev lo
      ip route add ${other} via 169.254.1.1 dev eth0 src ${own}`);
    await ofPod.run(`
      ip route add ${other} via ${cluster.lan.addressOf(gateway.node)}
      ip route add ${own} dev ${wireOf(pod.address)}`);
    await ofGateway.run(`
      ip route add ${other} via ${gateway.address} dev ${wireOf(gateway.address)} onlink
      ip route add ${own} via ${cluster.lan.addressOf(pod.node)}`);
    await gateway.host.run(`
      ip route add ${other} dev same
      ip route add ${own} via 169.254.1.1 dev eth0`);
  }
}

async function measure(
  from: LabPod,
  to: Record<string, string>,
  { rounds, seconds, rate }: { rounds: number; seconds: number; rate: number },
): Promise<void> {
  const ways = Object.entries(to);
  process.stdout.write(`throughput, Mbit/s (min / median / max of ${rounds} rounds of ${seconds} s)\n`);
  for (const flows of FLOWS) {
    const samples = new Map(ways.map(([way]) => [way, [] as number[]]));
    for (let round = 0; round < rounds; round++) {
      for (const [way, address] of inTurn(ways, round)) {
        samples.get(way)?.push(await blast(from.host, address, 8000, { flows, seconds }));
      }
    }
    const medianOf = (way: string) => quantile(samples.get(way) ?? [], 0.5);
    const line = ways.map(([way]) => {
      const share = `${((100 * medianOf("ours")) / medianOf(way)).toFixed(0)} %`;
      return `${way} ${spread(samples.get(way) ?? [], 0)}${way === "ours" ? "" : ` (ours has ${share})`}`;
    });
    process.stdout.write(`  ${String(flows).padStart(2)} flows: ${line.join(", ")}\n`);
  }
  process.stdout.write(`latency of ${rate} requests/s, ms (median of rounds)\n`);
  const latencies = new Map(ways.map(([way]) => [way, [] as Latencies[]]));
  for (let round = 0; round < rounds; round++) {
    for (const [way, address] of inTurn(ways, round)) {
      latencies.get(way)?.push(await requestAtRate(from.host, address, 8001, { rate, seconds }));
    }
  }
  for (const [way, list] of latencies) {
    const of = (field: keyof Latencies) =>
      quantile(
        list.map((one) => one[field]),
        0.5,
      ).toFixed(2);
    process.stdout.write(`  ${way}: p50 ${of("p50")}, p99 ${of("p99")}\n`);
  }
}

/** The other way round in every other round. */
function inTurn<T>(list: readonly T[], round: number): T[] {
  return round % 2 === 0 ? [...list] : [...list].reverse();
}
