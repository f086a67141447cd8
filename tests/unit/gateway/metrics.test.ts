import assert from "node:assert/strict";

import { registerDropMetrics, registerTunnelMetrics } from "../../../runtime/gateway/metrics";
import { createRegistry } from "../../../runtime/kube";
import { TestClock } from "../../support/test-clock";
import type { Reachability } from "../../../runtime/networking/connection-status";
import type { ObservedTunnel } from "../../../runtime/gateway/wireguard";

const NOW = Date.UTC(2026, 4, 4, 12, 0, 0);
const observed: ObservedTunnel = {
  privateKey: "secret",
  listenPort: 51840,
  peers: [
    {
      publicKey: "key",
      endpoint: "203.0.113.2:51840",
      allowedIps: ["0.0.0.0/0"],
      handshakeAt: NOW / 1000 - 75,
      receivedBytes: 12_000,
      sentBytes: 7_000,
    },
  ],
};

/** The metrics of a tunnel to milan, and what it costs to read them. */
function exposed(pings: { reachability: Reachability; loss: number }) {
  const registry = createRegistry();
  const looks = { count: 0 };
  const tunnel = {
    implementation: "userspace" as const,
    observe: () => {
      looks.count += 1;
      return Promise.resolve(observed);
    },
  };
  registerTunnelMetrics(registry, tunnel, pings, { peer: "milan", mtu: 1320, clock: new TestClock(NOW) });
  const scrape = async () =>
    (await registry.metrics()).split("\n").filter((line) => /^liqo_(peer|tunnel|wireguard)/.test(line));
  return { scrape, looks };
}

const OF_MILAN = `{driver="wireguard",cluster_id="milan"}`;
const bucket = (le: string) =>
  `liqo_peer_latency_histogram_us_bucket{le="${le}",driver="wireguard",cluster_id="milan"}`;

describe("the metrics of a tunnel (networking reference 19.1)", () => {
  it("have upstream's names, labels and buckets, and come of one look at the tunnel", async () => {
    const { scrape, looks } = exposed({ reachability: { state: "connected", latencyMs: 36.5 }, loss: 0.25 });
    const lines = await scrape();
    for (const line of [
      `liqo_peer_receive_bytes_total${OF_MILAN} 12000`,
      `liqo_peer_transmit_bytes_total${OF_MILAN} 7000`,
      `liqo_peer_latency_us${OF_MILAN} 36500`,
      `liqo_peer_is_connected${OF_MILAN} 1`,
      `liqo_wireguard_implementation{driver="wireguard",implementation="userspace"} 1`,
      `liqo_peer_handshake_age_seconds${OF_MILAN} 75`,
      `liqo_peer_packet_loss_ratio${OF_MILAN} 0.25`,
      `liqo_tunnel_mtu_bytes${OF_MILAN} 1320`,
    ]) {
      assert.ok(lines.includes(line), `${line}\n${lines.join("\n")}`);
    }
    const bounds = lines.flatMap((line) => /_bucket\{le="([^"]+)"/.exec(line)?.[1] ?? []);
    assert.equal(
      bounds.join(" "),
      "10000 15000 20000 36250 52500 68750 85000 101250 117500 133750 150000 178380 212129 252264 299992 +Inf",
    );
    assert.ok(lines.includes(`${bucket("36250")} 0`));
    assert.ok(lines.includes(`${bucket("52500")} 1`));
    assert.equal(looks.count, 1);
  });

  it("take the latency once a scrape, and have none while the peer is silent", async () => {
    const pings: { reachability: Reachability; loss: number } = {
      reachability: { state: "connected", latencyMs: 12 },
      loss: 0,
    };
    const { scrape } = exposed(pings);
    await scrape();
    assert.ok((await scrape()).includes(`liqo_peer_latency_histogram_us_count${OF_MILAN} 2`));
    pings.reachability = { state: "lost" };
    const lines = await scrape();
    assert.ok(lines.includes(`liqo_peer_is_connected${OF_MILAN} 0`));
    assert.ok(lines.includes(`liqo_peer_latency_histogram_us_count${OF_MILAN} 2`));
    assert.deepEqual(
      lines.filter((line) => line.startsWith("liqo_peer_latency_us")),
      [],
    );
  });
});

describe("the packets of a peer that a gateway drops", () => {
  const drops = async (ruleCounters: () => Promise<Map<string, number>>) => {
    const registry = createRegistry();
    registerDropMetrics(registry, { ruleCounters }, "milan");
    return (await registry.metrics()).split("\n").filter((line) => line.startsWith("liqo_peer_dropped"));
  };

  it("are counted by the reason", async () => {
    const counted = new Map([
      ["source", 7],
      ["destination", 2],
      ["of no interest", 9],
    ]);
    assert.deepEqual(
      (await drops(() => Promise.resolve(counted))).map((line) => line.replace(/.*reason=/, "")),
      ['"way"} 0', '"state"} 0', '"source"} 7', '"overlay"} 0', '"destination"} 2', '"gateway"} 0'],
    );
  });

  it("are none where the kernel does not say", async () => {
    const lines = await drops(() => Promise.reject(new Error("no nft")));
    assert.ok(lines.length > 0 && lines.every((line) => line.endsWith(" 0")), lines.join("\n"));
  });
});
