import { Counter, Gauge, Histogram, type Registry } from "prom-client";

export type CopyWrite = "create" | "update" | "delete" | "status";

const known = new WeakMap<Registry, ReplicationMetrics>();

/**
 * The metrics of replication in a registry: made once, however often a replica becomes the leader.
 *
 * @param monotonic milliseconds that only grow
 */
export function replicationMetrics(metrics: Registry, monotonic: () => number): ReplicationMetrics {
  const found = known.get(metrics) ?? new ReplicationMetrics(metrics, monotonic);
  known.set(metrics, found);
  return found;
}

/** What is counted of replication; one of it for all peers. */
class ReplicationMetrics {
  private readonly seconds: Histogram;
  private readonly writes: Counter;
  private readonly peers = new Map<string, PeerLag>();

  constructor(
    metrics: Registry,
    private readonly monotonic: () => number,
  ) {
    const registers = [metrics];
    this.seconds = new Histogram({
      name: "liqo_replication_duration_seconds",
      help: "From when a change is seen to when it is written on the other side; direction spec (to the peer) or status (back)",
      labelNames: ["cluster_id", "direction"],
      buckets: [0.005, 0.025, 0.1, 0.5, 2, 10, 60, 600],
      registers,
    });
    this.writes = new Counter({
      name: "liqo_replication_writes_total",
      help: "Writes of the replicator, by peer, kind and what was written: create, update, delete, status",
      labelNames: ["cluster_id", "kind", "write"],
      registers,
    });
    const oldest = (lag: PeerLag) => lag.oldestMs() / 1000;
    const { peers } = this;
    new Gauge({
      name: "liqo_replication_lag_seconds",
      help: "Age of the oldest change that waits to be replicated; 0 where none does",
      labelNames: ["cluster_id"],
      registers,
      collect() {
        this.reset();
        for (const [clusterId, lag] of peers) this.set({ cluster_id: clusterId }, oldest(lag));
      },
    });
    new Gauge({
      name: "liqo_replication_pending",
      help: "Objects with a change that waits to be replicated",
      labelNames: ["cluster_id"],
      registers,
      collect() {
        this.reset();
        for (const [clusterId, lag] of peers) this.set({ cluster_id: clusterId }, lag.size);
      },
    });
  }

  /** What is to be told of one peer; `end` when its replicator stops. */
  ofPeer(clusterId: string): PeerLag {
    const lag: PeerLag = new PeerLag(
      this.monotonic,
      (direction, ms) => this.seconds.observe({ cluster_id: clusterId, direction }, ms / 1000),
      ({ kind }, write) => this.writes.inc({ cluster_id: clusterId, kind, write }),
      () => {
        if (this.peers.get(clusterId) === lag) this.peers.delete(clusterId);
      },
    );
    this.peers.set(clusterId, lag);
    return lag;
  }
}

export type { ReplicationMetrics };

/** Since when the objects of a peer differ from what is there. */
export class PeerLag {
  private readonly since = new Map<string, number>();

  constructor(
    private readonly monotonic: () => number,
    private readonly observe: (direction: "spec" | "status", ms: number) => void,
    /** Something was written. */
    readonly wrote: (kind: { kind: string }, write: CopyWrite) => void,
    readonly end: () => void,
  ) {}

  /** Objects that wait. */
  get size(): number {
    return this.since.size;
  }

  /** The two sides of an object were found to differ. */
  differs(key: string): void {
    if (!this.since.has(key)) this.since.set(key, this.monotonic());
  }

  /** Both sides are the same by now. */
  settled(key: string, direction: "spec" | "status"): void {
    const since = this.since.get(key);
    if (since === undefined) return;
    this.since.delete(key);
    this.observe(direction, this.monotonic() - since);
  }

  /** There is nothing to replicate any more. */
  forget(key: string): void {
    this.since.delete(key);
  }

  oldestMs(): number {
    let oldest = Infinity;
    for (const since of this.since.values()) oldest = Math.min(oldest, since);
    return oldest === Infinity ? 0 : this.monotonic() - oldest;
  }
}
