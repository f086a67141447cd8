import assert from "node:assert/strict";
import { publishedBy, tunnelFilter } from "../../../runtime/gateway/packet-filter";
import { parseCidr } from "../../../runtime/ipam/cidr";
import { ipMappingInGateways } from "../../../runtime/networking/addresses/ip-mapping-controller";
import { addressTable, translationsOf } from "../../../runtime/networking/firewall/address-table";
import { recordDatagrams, recorded, sendDatagram } from "../../support/lab-datagrams";
import { startDatagramEcho } from "../../support/lab-traffic";
import { type LabHost, NetworkLab } from "../../support/network-lab";
import { until } from "../../support/until";
import { ip } from "../ipam/objects";
import { canUse } from "../networking/namespace";

/** The rules of a tunnel on packets, between namespaces of this machine's kernel: without agents, and without a cluster. */

const PORT = 7000;
const PEERS_POD = "10.243.1.9";
const POD = "10.42.1.5";
const VACANT = "10.42.1.6";
const NODE = "172.18.0.2";
const METADATA = "169.254.169.254";
const OTHER_PEERS_POD = "10.31.5.7";
const SENDER = "10.60.0.1";
/** Where it is reached once an IP stands for it. */
const PUBLISHED = "10.60.0.5";

if (canUse("ip", "nft")) {
  describe("a gateway's rules on packets", function () {
    this.timeout(60_000);
    const lab = new NetworkLab();
    let peer: LabHost;
    let gateway: LabHost;
    /** Has all addresses of the cluster, beyond the overlay and beyond the gateway's own interface. */
    let node: LabHost;

    before(async () => {
      [peer, gateway, node] = (await Promise.all(
        ["peer", "gateway", "node"].map((name) => lab.host(name)),
      )) as [LabHost, LabHost, LabHost];
      await lab.wire({ host: gateway, name: "liqo-tunnel" }, { host: peer, name: "tun" });
      await lab.wire({ host: gateway, name: "liqo.n1" }, { host: node, name: "overlay" });
      await lab.wire({ host: gateway, name: "eth0" }, { host: node, name: "pod1" });
      await peer.run(`
      ip addr add 169.254.18.1/30 dev tun
      ip addr add ${PEERS_POD}/32 dev lo
      ip route add default via 169.254.18.2 src ${PEERS_POD}`);
      await node.run(`
      ip addr add 10.80.0.1/32 dev overlay
      ip addr add 169.254.1.1/32 dev pod1
      for address in ${POD} ${VACANT} ${NODE} ${METADATA} ${OTHER_PEERS_POD}; do ip addr add $address/32 dev lo; done
      ip route add 10.80.0.3 dev overlay
      ip route add 10.243.0.0/16 via 10.80.0.3`);
      await gateway.run(`
      sysctl -qw net.ipv4.conf.liqo-tunnel.proxy_arp=1
      ip addr add 169.254.18.2/30 dev liqo-tunnel
      ip addr add 10.80.0.3/32 dev liqo.n1
      ip addr add 10.42.1.7/32 dev eth0
      ip route add 169.254.1.1 dev eth0
      ip route add default via 169.254.1.1
      ip route add 10.80.0.1 dev liqo.n1
      ip route add 10.243.0.0/16 via 169.254.18.1
      ip rule add iif liqo-tunnel lookup 100
      for to in ${POD}/32 10.31.0.0/18; do ip route add $to via 10.80.0.1 dev liqo.n1 table 100; done`);
      await Promise.all([node, gateway].map((host) => recordDatagrams(host, PORT)));
    });

    after(() => lab.close());

    const exported = ip("other", { ip: OTHER_PEERS_POD }, { ip: PUBLISHED, cidr: "10.60.0.0/16" });
    const mapping = ipMappingInGateways(exported) ?? assert.fail();

    async function load(script: string): Promise<void> {
      await gateway.run(`echo '${script}' | nft -j -f /dev/stdin`);
    }

    async function filter(published: boolean): Promise<void> {
      const table = tunnelFilter({
        device: "liqo-tunnel",
        address: "169.254.18.2",
        peerAddress: "169.254.18.1",
        pingPort: 12_345,
        overlayPort: 6091,
        peerNetworks: [parseCidr("10.243.0.0/16"), parseCidr("10.70.0.0/16")],
        podNetworks: [parseCidr("10.42.0.0/16")],
        published: published ? publishedBy([mapping.spec.table], "liqo-tunnel") : [],
      });
      await load(table.replacement);
    }

    let count = 0;
    /** Which of a list of packets arrive. */
    async function arriving(packets: Record<string, { from?: string; to: string; port?: number }>) {
      count += 1;
      const text = (name: string) => `${name}-${count}`;
      for (const [name, { from = PEERS_POD, to, port = PORT }] of Object.entries(packets)) {
        await sendDatagram(peer, "tun", { text: text(name), from, fromPort: 40_404, to, port });
      }
      await sendDatagram(peer, "tun", { text: text("control"), from: PEERS_POD, to: POD, port: PORT });
      await until("the last packet", async () => (await recorded(node)).has(text("control")));
      const came = new Set([...(await recorded(node)).keys(), ...(await recorded(gateway)).keys()]);
      return Object.keys(packets).filter((name) => came.has(text(name)));
    }

    const packets = {
      pod: { to: POD },
      foreign: { from: "192.0.2.66", to: POD },
      fromNode: { from: "172.18.0.3", to: POD },
      vacant: { to: VACANT },
      node: { to: NODE },
      metadata: { to: METADATA },
      otherPeer: { to: OTHER_PEERS_POD },
      published: { to: PUBLISHED },
      gateway: { to: "10.42.1.7" },
      tunnel: { from: "169.254.18.1", to: "169.254.18.2" },
    };

    it("are what keeps them from anywhere: without them all of it arrives that has a way", async () => {
      assert.deepEqual(
        await arriving(packets),
        Object.keys(packets).filter((name) => name !== "published"),
      );
    });

    it("let pods be reached, and what an IP has published, as long as it is there", async () => {
      await filter(false);
      assert.deepEqual(await arriving(packets), ["pod"]);
      const { pod, published, otherPeer } = packets;
      const some = { pod, published, otherPeer };
      const table = addressTable(translationsOf(mapping, mapping.spec.table) ?? []);
      await load(table?.creation ?? assert.fail());
      assert.deepEqual(await arriving(some), ["pod"]);
      await filter(true);
      assert.deepEqual(await arriving(some), ["pod", "published"]);
      // The connection exists, and is translated still.
      await filter(false);
      assert.deepEqual(await arriving(some), ["pod"]);
    });

    it("let answers come, and errors about connections that exist, whoever has to tell of them", async () => {
      await filter(false);
      await startDatagramEcho(peer, 9000);
      await peer.run("ip route add prohibit 10.243.9.0/24");
      // An address that is no pod's: only what answers may come to it.
      await node.run(`ip addr add ${SENDER}/32 dev lo`);
      await gateway.run(`ip route add ${SENDER} via 10.80.0.1 dev liqo.n1 table 100`);
      assert.equal(await outcome(PEERS_POD), `answer from ${PEERS_POD}`);
      // Told by the peer's gateway, whose address is in none of the peer's networks.
      assert.match(await outcome("10.243.9.9"), /EHOSTUNREACH/);
      assert.deepEqual(await arriving({ unasked: { to: SENDER } }), []);
    });

    /** What comes of a datagram to the echo at an address. */
    async function outcome(to: string): Promise<string> {
      const script = `
      const [from, to] = process.argv.slice(1);
      const socket = require("node:dgram").createSocket("udp4");
      const end = (text) => { console.log(text); process.exit(0); };
      socket.on("message", (_, { address }) => end("answer from " + address));
      socket.on("error", (error) => end(String(error)));
      socket.bind({ address: from }, () => socket.connect(9000, to, () => {
        const send = () => socket.send("hello", (error) => { if (error) end(String(error)); });
        send();
        setInterval(send, 200);
        setTimeout(() => end("silence"), 5000);
      }));`;
      return (await node.run(`'${process.execPath}' -e '${script}' ${SENDER} ${to}`)).trim();
    }
  });
}
