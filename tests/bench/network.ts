/**
 * `npm run bench -- network [--rounds 3] [--seconds 4] [--rate 200]`
 *
 * Throughput and latency from a pod of one cluster to a pod of another, through both gateways, beside a bare WireGuard tunnel between the same two
 * pods: in turns, in the same run. The WireGuard of both is the kernel's where there is one, else wireguard-go.
 */
import { parseArgs } from "node:util";

import { startControlPlane } from "../../provider/local-cluster/control-plane";
import { generateWireGuardKeyPair } from "../../runtime/identity";
import { answers, blast, type Latencies, requestAtRate, startEcho, startSink } from "../support/lab-traffic";
import { type LabPod, NetworkCluster, type NetworkClusterPlan } from "../support/network-cluster";
import { NetworkLab } from "../support/network-lab";
import { quantile, spread } from "../support/statistics";
import { until } from "../support/until";

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
const BARE = { port: 51999, a: "198.18.0.1", b: "198.18.0.2" };

export async function network(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: "string", default: "3" },
      seconds: { type: "string", default: "4" },
      rate: { type: "string", default: "200" },
    },
  });
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
    const { a, b, seen } = await peered(lab, consumer, provider);
    await bareTunnel(provider, a, b);
    await until("the bare tunnel", () => answers(a.host, BARE.b, 8000));
    await measure(a, { ours: seen, bare: BARE.b }, { rounds, seconds, rate });
  } finally {
    for (const stop of stops) await stop();
  }
}

/** Both clusters with their gateways on other nodes than the pods, and a pod on each side. */
async function peered(lab: NetworkLab, consumer: NetworkCluster, provider: NetworkCluster) {
  await NetworkCluster.join(lab, consumer, provider, 1500);
  const begin = Date.now();
  await provider.peer(rome);
  await consumer.peer(milan, { addresses: ["203.0.113.2"], port: 51840 });
  for (const cluster of [consumer, provider]) {
    for (const node of cluster.nodes.keys()) await cluster.fabric(node);
  }
  const server = await provider.gatewayPod("rome", "milan-2", "gw-rome");
  const client = await consumer.gatewayPod("milan", "rome-2", "gw-milan");
  await provider.publish(server);
  await consumer.know("milan", await provider.publicKey("rome"));
  await provider.know("rome", await consumer.publicKey("milan"));
  await provider.gateway("rome", "server", server);
  const agent = await consumer.gateway("milan", "client", client);
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
  return { a, b, seen };
}

/** A tunnel from pod to pod with nothing of ours in it. */
async function bareTunnel(provider: NetworkCluster, a: LabPod, b: LabPod): Promise<void> {
  const [left, right] = [generateWireGuardKeyPair(), generateWireGuardKeyPair()];
  const make = (own: string, address: string, settings: string) => `
    ip link add bare type wireguard 2>/dev/null || wireguard-go bare >/dev/null 2>&1
    echo '${own}' | wg set bare private-key /dev/stdin ${settings}
    ip link set bare mtu ${MTU} up
    ip addr add ${address}/24 dev bare`;
  await provider.router.run(`
    ip route replace ${b.address} via ${provider.lanAddress(b.node)}
    nft add table ip bare
    nft 'add chain ip bare in { type nat hook prerouting priority -100; }'
    nft add rule ip bare in iifname outside udp dport ${BARE.port} dnat to ${b.address}`);
  await b.host.run(
    make(right.privateKey, BARE.b, `listen-port ${BARE.port} peer '${left.publicKey}' allowed-ips 0.0.0.0/0`),
  );
  await a.host.run(
    make(
      left.privateKey,
      BARE.a,
      `peer '${right.publicKey}' allowed-ips 0.0.0.0/0 endpoint 203.0.113.2:${BARE.port}`,
    ),
  );
}

async function measure(
  from: LabPod,
  to: { ours: string; bare: string },
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
    const [ours = [], bare = []] = ways.map(([way]) => samples.get(way) ?? []);
    const ratio = quantile(ours, 0.5) / quantile(bare, 0.5);
    process.stdout.write(
      `  ${String(flows).padStart(2)} flows: ours ${spread(ours, 0)}, bare ${spread(bare, 0)}: ${(100 * ratio).toFixed(0)} %\n`,
    );
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
