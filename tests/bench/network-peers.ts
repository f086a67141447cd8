/** How long a cluster takes to be connected with many peers at once, and what its agents and controllers write once nothing changes. */
import { startControlPlane } from "../../provider/local-cluster/control-plane";
import { generateWireGuardKeyPair } from "../../runtime/identity";
import { auditEvents, describeRequest } from "../support/audit-log";
import { startForeignPeer } from "../support/foreign-peer";
import { answers } from "../support/lab-traffic";
import type { LabAgent, LabPod } from "../support/lab-agent";
import { NetworkCluster } from "../support/network-cluster";
import type { NetworkClusterPlan } from "../support/network-plan";
import { NetworkLab } from "../support/network-lab";
import { until } from "../support/until";

const rome: NetworkClusterPlan = {
  id: "rome",
  liqoNamespace: "liqo",
  podCidr: "10.200.0.0/16",
  serviceCidr: "10.96.0.0/16",
  externalCidr: "10.70.0.0/16",
  internalCidr: "10.80.0.0/16",
  router: "172.18.0.1/24",
  outside: "203.0.113.1/24",
  nodes: [
    { name: "rome-1", address: "172.18.0.2/24", podCidr: "10.200.1.0/24" },
    { name: "rome-2", address: "172.18.0.3/24", podCidr: "10.200.2.0/24" },
  ],
  behindNat: false,
};
/** All peers have the networks that the cluster has itself; the pod that calls them has another address than theirs. */
const PEER = { podCidr: rome.podCidr, externalCidr: rome.externalCidr, pod: "10.200.1.9" };
/** How long nothing is to happen, with a look of each agent in every second. */
const REST_MS = 10_000;

/**
 * Connects one cluster with each of the numbers of peers at once, a cluster of its own each time. The peers are plain WireGuard with a ping responder, so that
 * all that is measured is this side.
 */
export async function networkPeers(counts: readonly number[]): Promise<void> {
  if (counts.some((count) => !Number.isInteger(count) || count < 1 || count > 200)) {
    throw new Error("--peers takes numbers from 1 to 200, separated by commas");
  }
  for (const count of counts) await connectAtOnce(count);
}

interface Peer {
  id: string;
  pod: LabPod;
  agent: LabAgent;
}

async function connectAtOnce(count: number): Promise<void> {
  const lab = new NetworkLab();
  const stops: (() => Promise<void>)[] = [() => lab.close()];
  try {
    const plane = await startControlPlane({ name: "rome", auditLog: true });
    stops.push(() => plane.stop());
    const cluster = await NetworkCluster.start(rome, lab, plane);
    stops.push(() => cluster.stop());
    const agents = await Promise.all(
      [...cluster.lan.nodes.keys()].map((node) => cluster.agents.fabric(node, ["--resync-interval=1s"])),
    );
    await cluster.router.run(
      `ip link add outside type bridge && ip link set outside up && ip addr add ${rome.outside} dev outside`,
    );
    const a = await cluster.pod("rome-1", "a");
    await Promise.all(agents.map((agent) => agent.untilReady()));

    const begin = performance.now();
    const peers = await Promise.all(
      Array.from({ length: count }, (_, index) => connect(lab, cluster, index)),
    );
    const times = await Promise.all(
      peers.map(async ({ id }) => {
        const remapped = await cluster.remapped(id, PEER.pod);
        await until(`a pod reaches ${id}`, () => answers(a.host, remapped, 8000), { timeoutMs: 240_000 });
        return (performance.now() - begin) / 1000;
      }),
    );
    process.stdout.write(
      `${count} peers at once: the first answer of the first after ${Math.min(...times).toFixed(1)} s, of the last after ${Math.max(...times).toFixed(1)} s, processes of the gateways and peers included\n`,
    );
    await rest(cluster, [...agents, ...peers.map(({ agent }) => agent)]);
  } finally {
    for (const stop of stops) await stop();
  }
}

async function connect(lab: NetworkLab, cluster: NetworkCluster, index: number): Promise<Peer> {
  const id = `peer-${index + 1}`;
  const outside = `203.0.113.${index + 2}`;
  const host = await lab.host(id);
  await lab.wire({ host: cluster.router, name: `to-${id}` }, { host, name: "eth0" });
  await cluster.router.run(`ip link set to-${id} master outside`);
  await host.run(`ip addr add ${outside}/24 dev eth0; ip route add default via 203.0.113.1`);
  await cluster.peer({ id, ...PEER }, { addresses: [outside], port: 51840 });
  const own = generateWireGuardKeyPair();
  const theirs = await cluster.publicKey(id);
  await startForeignPeer(host, { end: "server", own, theirs, pod: PEER.pod, podCidr: PEER.podCidr });
  await cluster.know(id, own.publicKey);
  const pod = await cluster.gatewayPod(id, "rome-2", `gw-${id}`);
  return { id, pod, agent: await cluster.agents.gateway(id, "client", pod, ["--resync-interval=1s"]) };
}

async function rest(cluster: NetworkCluster, agents: readonly LabAgent[]): Promise<void> {
  const sum = async (metric: string) =>
    (await Promise.all(agents.map((agent) => agent.metric(metric)))).reduce((all, one) => all + one, 0);
  let before = -1;
  await until(
    "the agents have come to rest",
    async () => {
      const writes = await sum("liqo_kernel_writes_total");
      const isSame = writes === before;
      before = writes;
      return isSame;
    },
    { everyMs: 3_000, timeoutMs: 120_000 },
  );
  const [looks, from] = [await sum("controller_runtime_reconcile_total"), Date.now()];
  await new Promise((resolve) => setTimeout(resolve, REST_MS));
  const apiWrites = auditEvents(cluster.auditLog, from)
    .filter(({ userAgent = "", verb }) => userAgent.startsWith("liqo-") && !/get|list|watch/.test(verb))
    .map(describeRequest);
  process.stdout.write(
    `  at rest: ${(await sum("controller_runtime_reconcile_total")) - looks} looks in ${REST_MS / 1000} s wrote ${(await sum("liqo_kernel_writes_total")) - before} times to kernels and ${apiWrites.length} times to the API server${apiWrites.length === 0 ? "" : ` (${apiWrites.join()})`}\n`,
  );
}
