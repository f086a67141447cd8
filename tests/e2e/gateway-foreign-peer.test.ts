import assert from "node:assert/strict";

import { generateWireGuardKeyPair } from "../../runtime/identity";
import { joinForeignPeer, startForeignPeer } from "../support/foreign-peer";
import { answers, sendBytes, startSink } from "../support/lab-traffic";
import type { LabAgent, LabPod } from "../support/lab-agent";
import { NetworkCluster } from "../support/network-cluster";
import type { NetworkClusterPlan } from "../support/network-plan";
import { NetworkLab } from "../support/network-lab";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

/** A cluster whose pods have odd ranges, and whose peers have the same. */
const rome: NetworkClusterPlan = {
  id: "rome",
  liqoNamespace: "liqo",
  podCidr: "10.200.0.0/20",
  serviceCidr: "10.96.0.0/16",
  externalCidr: "10.70.0.0/16",
  internalCidr: "10.80.0.0/16",
  router: "172.18.0.1/24",
  outside: "203.0.113.1/24",
  nodes: [
    { name: "rome-1", address: "172.18.0.2/24", podCidr: "10.200.1.0/27" },
    { name: "rome-2", address: "172.18.0.3/24", podCidr: "10.200.2.32/27" },
  ],
  behindNat: false,
};
const peer = { podCidr: rome.podCidr, externalCidr: rome.externalCidr };
/** An address of the peer that has a meaning there; the cluster has a pod with the same. */
const FOREIGN_POD = "10.200.1.3";
const UNDERLAY_MTU = 1400;

describe("a gateway and a peer that is not ours", function () {
  this.timeout(300_000);
  const controlPlane = withControlPlanes({ rome: {} });
  const lab = new NetworkLab();
  let cluster: NetworkCluster;
  let a: LabPod;
  const agents: LabAgent[] = [];

  before(async () => {
    cluster = await NetworkCluster.start(rome, lab, controlPlane("rome"));
    for (const name of cluster.lan.nodes.keys()) agents.push(await cluster.agents.fabric(name));
    a = await cluster.pod("rome-1", "a");
    const twin = await cluster.pod("rome-1", "twin");
    assert.equal(twin.address, FOREIGN_POD);
    await startSink(a.host, 8000);
  });

  afterEach(function () {
    if (this.currentTest?.state !== "failed") return;
    for (const agent of agents) console.error(agent.log().slice(-2_000));
  });

  after(async () => {
    await lab.close();
    await cluster?.stop();
  });

  for (const [id, end] of [
    ["milan", "server"],
    ["turin", "client"],
  ] as const) {
    it(`talk to each other with the peer as ${end}, though their networks are the same`, async () => {
      const ours = end === "server" ? "client" : "server";
      const outside = ours === "client" ? "203.0.113.2" : "203.0.113.3";
      const place = { router: cluster.router, outside: rome.outside };
      const host = await joinForeignPeer(lab, place, { id, outside, mtu: UNDERLAY_MTU });

      await cluster.peer(
        { id, ...peer },
        ours === "client" ? { addresses: [outside], port: 51840 } : undefined,
      );
      const pod = await cluster.gatewayPod(id, "rome-2", `gw-${id}`);
      if (ours === "server") await cluster.lan.publish(pod);
      const own = generateWireGuardKeyPair();
      await startForeignPeer(host, {
        end,
        own,
        theirs: await cluster.publicKey(id),
        pod: FOREIGN_POD,
        podCidr: peer.podCidr,
      });
      await cluster.know(id, own.publicKey);
      const agent = await cluster.agents.gateway(id, ours, pod);
      agents.push(agent);

      await cluster.untilConnected(id);
      const remapped = await cluster.remapped(id, FOREIGN_POD);
      assert.notEqual(remapped, FOREIGN_POD);
      await until("a pod reaches the peer", () => answers(a.host, remapped, 8000));
      const bytes = end === "server" ? 100_000_000 : 10_000_000;
      const there = await sendBytes(a.host, remapped, 8000, bytes);
      // It is for the peer to translate what it sees from us; this one does not.
      assert.deepEqual([there.bytes, there.source], [bytes, a.address]);
      const back = await sendBytes(host, a.address, 8000, bytes);
      assert.deepEqual([back.bytes, back.source], [bytes, remapped]);
      await cluster.untilConnected(id);
    });
  }
});
