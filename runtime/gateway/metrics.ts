import { Counter, Gauge, Histogram, type Registry } from "prom-client";

import type { Clock } from "../kube";
import { DROP_REASONS, TUNNEL_FILTER } from "./packet-filter";
import type { Kernel } from "../networking/kernel/kernel";
import type { ObservedTunnel } from "./wireguard";
import type { PingLink } from "./ping-link";
import type { Tunnel } from "./tunnel";

const BUCKETS = [
  10000, 15000, 20000, 36250, 52500, 68750, 85000, 101250, 117500, 133750, 150000, 178380, 212129, 252264,
  299992,
];
const DRIVER = "wireguard";

/** What is dropped of what the peer sends, by the reason. Counting begins anew when the rules change. */
export function registerDropMetrics(
  registry: Registry,
  kernel: Pick<Kernel, "ruleCounters">,
  peer: string,
): void {
  new Counter({
    name: "liqo_peer_dropped_packets_total",
    help: "Packets of the peer that the gateway dropped, by the reason",
    labelNames: ["driver", "cluster_id", "reason"],
    registers: [registry],
    async collect() {
      const counted = await kernel.ruleCounters(TUNNEL_FILTER).catch(() => new Map<string, number>());
      this.reset();
      for (const reason of DROP_REASONS) {
        this.inc({ driver: DRIVER, cluster_id: peer, reason }, counted.get(reason) ?? 0);
      }
    },
  });
}

/** The metrics of a tunnel, by upstream's names (networking reference 19.1), and how old its session is, what it loses, how wide it is. */
export function registerTunnelMetrics(
  registry: Registry,
  tunnel: Pick<Tunnel, "observe" | "implementation">,
  pings: Pick<PingLink, "reachability" | "loss"> | undefined,
  { peer, mtu, clock }: { peer: string; mtu: number; clock: Clock },
): void {
  const labels = { driver: DRIVER, cluster_id: peer };
  const labelNames = Object.keys(labels);
  const registers = [registry];
  const latencyUs = () =>
    pings?.reachability.state === "connected" ? pings.reachability.latencyMs * 1000 : undefined;

  // One look at the tunnel serves the metrics of one scrape.
  let looked: { at: number; tunnel: Promise<ObservedTunnel | undefined> } | undefined;
  const observed = () => {
    const now = clock.monotonic();
    if (looked === undefined || now - looked.at > 500) {
      looked = { at: now, tunnel: tunnel.observe().catch(() => undefined) };
    }
    return looked.tunnel;
  };
  const bytes = (name: string, help: string, field: "receivedBytes" | "sentBytes") =>
    new Counter({
      name,
      help,
      labelNames,
      registers,
      async collect() {
        const peers = (await observed())?.peers ?? [];
        this.reset();
        this.inc(
          labels,
          peers.reduce((sum, one) => sum + one[field], 0),
        );
      },
    });
  bytes("liqo_peer_receive_bytes_total", "Bytes received from the peer's gateway", "receivedBytes");
  bytes("liqo_peer_transmit_bytes_total", "Bytes sent to the peer's gateway", "sentBytes");
  new Gauge({
    name: "liqo_peer_latency_us",
    help: "Round trip of the last ping, microseconds; only while connected",
    labelNames,
    registers,
    collect() {
      this.reset();
      const latency = latencyUs();
      if (latency !== undefined) this.set(labels, latency);
    },
  });
  new Histogram({
    name: "liqo_peer_latency_histogram_us",
    help: "Round trip of the last ping at each scrape, microseconds; only while connected",
    labelNames,
    buckets: BUCKETS,
    registers,
    collect() {
      const latency = latencyUs();
      if (latency !== undefined) this.observe(labels, latency);
    },
  });
  new Gauge({
    name: "liqo_peer_is_connected",
    help: "Whether pings come back: 1 or 0",
    labelNames,
    registers,
    collect() {
      this.set(labels, latencyUs() === undefined ? 0 : 1);
    },
  });
  new Gauge({
    name: "liqo_wireguard_implementation",
    help: "1 for what carries the tunnel",
    labelNames: ["driver", "implementation"],
    registers,
    collect() {
      this.reset();
      const { implementation } = tunnel;
      if (implementation !== undefined) this.set({ driver: DRIVER, implementation }, 1);
    },
  });
  new Gauge({
    name: "liqo_peer_handshake_age_seconds",
    help: "Since the last handshake with the peer's gateway; none before the first",
    labelNames,
    registers,
    async collect() {
      this.reset();
      const at = (await observed())?.peers[0]?.handshakeAt;
      if (at !== undefined) this.set(labels, Math.max(0, clock.now() / 1000 - at));
    },
  });
  new Gauge({
    name: "liqo_peer_packet_loss_ratio",
    help: "Share of the last hundred pings without an answer",
    labelNames,
    registers,
    collect() {
      if (pings !== undefined) this.set(labels, pings.loss);
    },
  });
  new Gauge({ name: "liqo_tunnel_mtu_bytes", help: "Of the tunnel", labelNames, registers }).set(labels, mtu);
}
