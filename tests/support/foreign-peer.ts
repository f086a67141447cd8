/** A peer that is no cluster of ours: plain WireGuard, by the programs that everybody has. */
import type { WireGuardKeyPair } from "../../runtime/identity";
import { startSink } from "./lab-traffic";
import type { LabHost, NetworkLab } from "./network-lab";
import { bare } from "./network-plan";

/** The pings of the wire contract and their answers, from its text alone. A client's pings are what opens the tunnel. */
const RESPONDER = `
  const [own, other] = process.argv.slice(1);
  const socket = require("node:dgram").createSocket("udp4");
  socket.on("message", (datagram, from) => {
    const message = JSON.parse(datagram.toString());
    if (message.msgType !== "PING") return;
    socket.send(JSON.stringify({ ...message, msgType: "PONG" }), from.port, from.address);
  });
  socket.bind(12345, own, () => setInterval(() => {
    const timeStamp = new Date().toISOString().replace("Z", "123456Z");
    socket.send(JSON.stringify({ clusterID: "rome", msgType: "PING", timeStamp }), 12345, other);
  }, 2000));
`;

export interface ForeignPeer {
  /** Which end of the tunnel it is. */
  end: "server" | "client";
  own: WireGuardKeyPair;
  /** Public key of our gateway. */
  theirs: string;
  /** An address of a pod of the peer; the host has it itself. */
  pod: string;
  /** Of the pods of our cluster, as the peer sees them. */
  podCidr: string;
}

/** A host beside a cluster's router, with an address of its own in the network outside. */
export async function joinForeignPeer(
  lab: NetworkLab,
  { router, outside }: { router: LabHost; outside: string },
  peer: { id: string; outside: string; mtu: number },
): Promise<LabHost> {
  const host = await lab.host(peer.id);
  await lab.wire({ host: router, name: `to-${peer.id}` }, { host, name: "eth0" }, peer.mtu);
  await router.run(`
    ip link show outside >/dev/null 2>&1 || {
      ip link add outside type bridge && ip link set outside up && ip addr add ${outside} dev outside
    }
    ip link set to-${peer.id} master outside
    ip link set outside mtu ${peer.mtu}`);
  await host.run(`
    ip addr add ${peer.outside}/24 dev eth0
    ip route add default via ${bare(outside)}`);
  return host;
}

export async function startForeignPeer(
  host: LabHost,
  { end, own, theirs, pod, podCidr }: ForeignPeer,
): Promise<void> {
  const [address, other] =
    end === "server" ? ["169.254.18.1", "169.254.18.2"] : ["169.254.18.2", "169.254.18.1"];
  const endpoint = end === "client" ? "endpoint 203.0.113.1:51840" : "";
  await host.run(`
    ip link add wg0 type wireguard 2>/dev/null || wireguard-go wg0 >/dev/null 2>&1
    echo '${own.privateKey}' | wg set wg0 private-key /dev/stdin ${end === "server" ? "listen-port 51840" : ""} \\
      peer '${theirs}' allowed-ips 0.0.0.0/0 ${endpoint}
    ip link set wg0 mtu 1340 up
    ip addr add ${address}/30 dev wg0
    ip addr add ${pod}/32 dev lo
    ip route add ${podCidr} via ${other} dev wg0 src ${pod}`);
  host.spawn(process.execPath, ["-e", RESPONDER, address ?? "", other ?? ""]);
  await startSink(host, 8000);
}
