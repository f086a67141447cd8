/** A peer whose gateway sends whatever it likes: it has the keys of its tunnel, and nothing else of ours. */
import assert from "node:assert/strict";

import { IP } from "../../runtime/api";
import { generateWireGuardKeyPair } from "../../runtime/identity";
import { joinForeignPeer, startForeignPeer } from "../support/foreign-peer";
import { type Datagram, recordDatagrams, recorded, sendDatagram } from "../support/lab-datagrams";
import type { LabAgent, LabPod } from "../support/lab-agent";
import { answers, sendBytes, startSink } from "../support/lab-traffic";
import { NetworkCluster } from "../support/network-cluster";
import { type LabHost, NetworkLab } from "../support/network-lab";
import { bare, type NetworkClusterPlan } from "../support/network-plan";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

const rome: NetworkClusterPlan = {
  id: "rome",
  liqoNamespace: "liqo",
  podCidr: "10.200.0.0/20",
  serviceCidr: "10.96.0.0/16",
  externalCidr: "10.70.0.0/16",
  internalCidr: "10.80.0.0/20",
  router: "172.18.0.1/24",
  outside: "203.0.113.1/24",
  nodes: [
    { name: "rome-1", address: "172.18.0.2/24", podCidr: "10.200.1.0/27" },
    { name: "rome-2", address: "172.18.0.3/24", podCidr: "10.200.2.32/27" },
  ],
  behindNat: false,
};
/** The attacker. Its networks are those of rome, so that every address of its own has another one at rome. */
const MILAN = { id: "milan", podCidr: rome.podCidr, externalCidr: rome.externalCidr, pod: "10.200.1.9" };
/** Another peer of rome, which milan does not know. */
const TURIN = { id: "turin", podCidr: "10.31.0.0/18", externalCidr: "10.33.16.0/20", pod: "10.31.5.7" };
const METADATA = "169.254.169.254";
/** The node's end of the wire to each pod. */
const NODE_BESIDE_POD = "169.254.1.1";
const OVERLAY_PORT = 6091;
const PORT = 7000;
const MTU = 1500;

describe("packets of a peer that does what it likes", function () {
  this.timeout(300_000);
  const controlPlane = withControlPlanes({ rome: { controllerManager: true } });
  const lab = new NetworkLab();
  let cluster: NetworkCluster;
  let a: LabPod;
  let milan: LabHost;
  let turin: LabHost;
  const gateways = new Map<string, { pod: LabPod; agent: LabAgent }>();
  const fabrics: LabAgent[] = [];

  const gatewayTo = (peer: string) => gateways.get(peer) ?? assert.fail();
  const nodes = () => [...cluster.lan.nodes.values()].map(({ host }) => host);

  before(async () => {
    cluster = await NetworkCluster.start(rome, lab, controlPlane("rome"));
    for (const name of cluster.lan.nodes.keys()) fabrics.push(await cluster.agents.fabric(name));
    a = await cluster.pod("rome-1", "a");
    await startSink(a.host, 8000);
    milan = await connect(MILAN, "203.0.113.2", "server", "rome-2");
    turin = await connect(TURIN, "203.0.113.3", "client", "rome-1");
    await turin.run(`ip route add ${rome.externalCidr} dev wg0`);
    await cluster.router.run(`ip addr add ${METADATA}/32 dev lo`);
    const pods = [a, gatewayTo("milan").pod, gatewayTo("turin").pod].map(({ host }) => host);
    for (const host of [...pods, ...nodes(), cluster.router, turin]) await recordDatagrams(host, PORT);
  });

  afterEach(async function () {
    if (this.currentTest?.state !== "failed") return;
    for (const { agent, pod } of gateways.values()) {
      console.error(agent.log().slice(-2_000));
      console.error(await pod.host.run("nft list table ip liqo-tunnel || true"));
    }
  });

  after(async () => {
    await lab.close();
    await cluster?.stop();
  });

  /** Joins a peer that is at one end of its tunnel; our gateway is at the other, on a node. */
  async function connect(
    peer: typeof MILAN,
    outside: string,
    end: "server" | "client",
    node: string,
  ): Promise<LabHost> {
    const { id, podCidr, externalCidr } = peer;
    const host = await joinForeignPeer(
      lab,
      { router: cluster.router, outside: rome.outside },
      { id, outside, mtu: MTU },
    );
    const ours = end === "server" ? "client" : "server";
    const server = ours === "client" ? { addresses: [outside], port: 51840 } : undefined;
    await cluster.peer({ id, podCidr, externalCidr }, server);
    const pod = await cluster.gatewayPod(id, node, `gw-${id}`);
    if (ours === "server") await cluster.lan.publish(pod);
    const own = generateWireGuardKeyPair();
    const theirs = await cluster.publicKey(id);
    await startForeignPeer(host, { end, own, theirs, pod: peer.pod, podCidr: rome.podCidr });
    await cluster.know(id, own.publicKey);
    gateways.set(id, { pod, agent: await cluster.agents.gateway(id, ours, pod) });
    await cluster.untilConnected(id);
    return host;
  }

  /** The attacker sends; what is not said is as it should be. */
  async function sends(text: string, datagram: Partial<Datagram>): Promise<void> {
    await sendDatagram(milan, "wg0", { text, from: MILAN.pod, to: a.address, port: PORT, ...datagram });
  }

  /** Until something of the attacker's has come to a host. */
  async function arrives(text: string, host: LabHost): Promise<string> {
    return await until(`${text} comes to ${host.name}`, async () => (await recorded(host)).get(text));
  }

  let controls = 0;
  /** Something that may come has come after all of it, and yet none of it is anywhere. */
  async function nothingOf(texts: readonly string[], hosts: readonly LabHost[]): Promise<void> {
    const control = `control-${(controls += 1)}`;
    await sends(control, {});
    await arrives(control, a.host);
    await new Promise((resolve) => setTimeout(resolve, 300));
    for (const host of hosts) {
      const came = [...(await recorded(host)).keys()].filter((text) => texts.includes(text));
      assert.deepEqual(came, [], `${came.join()} came to ${host.name}`);
    }
  }

  const drops = async (peer: string, reason: string) => {
    const text = await gatewayTo(peer).agent.metrics();
    const line = text
      .split("\n")
      .find((one) => one.startsWith("liqo_peer_dropped") && one.includes(`reason="${reason}"`));
    return Number(line?.split(" ").at(-1));
  };

  it("come to pods, with addresses of its own networks as rome knows them", async () => {
    const known = await cluster.remapped("milan", MILAN.pod);
    assert.notEqual(known, MILAN.pod);
    await until("a pod of rome reaches milan", () => answers(a.host, known, 8000));
    assert.equal((await sendBytes(a.host, known, 8000, 1_000_000)).source, a.address);
    assert.equal((await sendBytes(milan, a.address, 8000, 1_000_000)).source, known);
    await until("a pod of rome reaches turin", () => answers(a.host, TURIN.pod, 8000));
    // The address of a pod of rome is one of milan's, too; to rome it is another one.
    await sends("twin", { from: a.address, to: gatewayTo("turin").pod.address });
    assert.equal(
      await arrives("twin", gatewayTo("turin").pod.host),
      await cluster.remapped("milan", a.address),
    );
  });

  it("come from no address that is not its own", async () => {
    const sources: Record<string, string> = {
      nobody: "192.0.2.66",
      turin: TURIN.pod,
      node: cluster.lan.addressOf("rome-1"),
      mapped: await cluster.remapped("milan", MILAN.pod),
      service: "10.96.0.1",
      tunnel: "169.254.18.1",
    };
    const before = await drops("milan", "source");
    for (const [text, from] of Object.entries(sources)) await sends(`from-${text}`, { from });
    await nothingOf(
      Object.keys(sources).map((text) => `from-${text}`),
      [a.host],
    );
    assert.ok((await drops("milan", "source")) >= before + Object.keys(sources).length);
  });

  it("come to no node, no machine beside the nodes, and nothing that is there for nodes alone", async () => {
    const targets: Record<string, string> = {
      "rome-1": cluster.lan.addressOf("rome-1"),
      "rome-2": cluster.lan.addressOf("rome-2"),
      router: bare(rome.router),
      metadata: METADATA,
      beside: NODE_BESIDE_POD,
      // In the network of pods, and no pod's.
      vacant: "10.200.2.60",
    };
    for (const { host } of cluster.lan.nodes.values())
      await host.run(`ip addr add ${targets.vacant}/32 dev lo`);
    for (const [text, to] of Object.entries(targets)) await sends(`to-${text}`, { to });
    await nothingOf(
      Object.keys(targets).map((text) => `to-${text}`),
      [...nodes(), cluster.router],
    );
  });

  it("come to no port of the gateway, and none is taken for one of the overlay", async () => {
    const { pod } = gatewayTo("milan");
    const before = await drops("milan", "gateway");
    await sends("to-tunnel", { from: "169.254.18.1", to: "169.254.18.2" });
    await sends("to-tunnel-from-pod", { to: "169.254.18.2" });
    await sends("to-gateway", { to: pod.address });
    await sends("to-overlay", { to: gatewayTo("turin").pod.address, port: OVERLAY_PORT });
    await nothingOf(["to-tunnel", "to-tunnel-from-pod", "to-gateway"], [pod.host]);
    assert.ok((await drops("milan", "gateway")) >= before + 3);
    assert.ok((await drops("milan", "overlay")) >= 1);
    await cluster.untilConnected("milan");
  });

  it("come to another peer, or to a machine beside the nodes, only by an address that rome has given it", async () => {
    const asked = [
      { name: "at-turin", spec: { ip: TURIN.pod }, host: turin },
      { name: "at-router", spec: { ip: bare(rome.router) }, host: cluster.router },
    ];
    for (const { name, spec, host } of asked) {
      await sends(`${name}-unasked`, { to: spec.ip });
      await nothingOf([`${name}-unasked`], [host]);
      const ref = { name, namespace: "default" };
      await cluster.kube.create(IP, {
        apiVersion: "ipam.liqo.io/v1alpha1",
        kind: "IP",
        metadata: ref,
        spec,
      });
      const to = await until(`${name} has its address`, async () => {
        return (await cluster.kube.get(IP, ref))?.status?.ip;
      });
      const flow = { to, fromPort: 40_404 };
      await until(`${name} is reached`, async () => {
        await sends(`${name}-asked`, flow);
        return (await recorded(host)).has(`${name}-asked`);
      });
      await sends(`${name}-directly`, { to: spec.ip });
      await nothingOf([`${name}-directly`], [host]);
      // What is open is closed again, for what is on the way already, too.
      await cluster.kube.delete(IP, ref);
      let count = 0;
      await until(`${name} is closed`, async () => {
        const text = `${name}-closed-${(count += 1)}`;
        await sends(text, flow);
        await new Promise((resolve) => setTimeout(resolve, 200));
        return !(await recorded(host)).has(text);
      });
    }
  });

  it("are looked at again when somebody removes the rules", async () => {
    const { host } = gatewayTo("milan").pod;
    await host.run("nft delete table ip liqo-tunnel");
    await until("the table is back", () =>
      host.run("nft list table ip liqo-tunnel").then(
        () => true,
        () => false,
      ),
    );
    await sends("again-from-nobody", { from: "192.0.2.66" });
    await sends("again-to-node", { to: cluster.lan.addressOf("rome-2") });
    await nothingOf(["again-from-nobody", "again-to-node"], [a.host, ...nodes()]);
    const known = await cluster.remapped("milan", MILAN.pod);
    assert.equal((await sendBytes(milan, a.address, 8000, 10_000)).source, known);
  });
});
