import { Label, LabelValue } from "../../api/keys";
import { Lease } from "../../api/kubernetes";
import {
  type Clock,
  isConflict,
  isNotFound,
  type KubeClient,
  type Logger,
  microTimestamp,
  sleep,
} from "../../kube";

interface Parts {
  client: KubeClient;
  clock: Clock;
  log: Logger;
  /** Where the leases of replicas are. */
  namespace: string;
  /** This one. */
  identity: string;
  everyMs: number;
  /** How long a replica that is silent still counts. */
  durationMs: number;
  /** Told of each count. */
  onCount: (live: number) => void;
}

/** How many replicas of the virtual kubelet live: each renews a lease of its own, and counts those that others renew. */
export class Replicas {
  /** The last version of each lease and when we saw it on our own clock: wall clocks of others are not trusted. */
  private readonly seen = new Map<string, { version: string | undefined; at: number }>();
  private own: Lease | undefined;

  constructor(private readonly parts: Parts) {}

  /** Goes on until the signal is aborted; then takes its own lease back, so that it counts no longer. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, everyMs, log, onCount } = this.parts;
    while (!signal.aborted) {
      try {
        await this.renew();
        onCount(await this.count());
      } catch (error) {
        log.warn("replicas cannot be counted", { error });
      }
      await sleep(clock, everyMs, signal);
    }
    await this.parts.client.delete(Lease, this.ref, { deadlineMs: 3_000 }).catch(() => undefined);
  }

  private get ref(): { name: string; namespace: string } {
    return { name: `virtual-kubelet-${this.parts.identity}`, namespace: this.parts.namespace };
  }

  private async renew(): Promise<void> {
    const { client } = this.parts;
    try {
      const current = this.own ?? (await client.get(Lease, this.ref));
      const lease = this.renewed(current);
      this.own = await (current === undefined ? client.create(Lease, lease) : client.replace(Lease, lease));
    } catch (error) {
      this.own = undefined;
      if (!isConflict(error) && !isNotFound(error)) throw error;
    }
  }

  private renewed(current: Lease | undefined): Lease {
    const { identity, durationMs, clock } = this.parts;
    return {
      apiVersion: Lease.apiVersion,
      kind: Lease.kind,
      metadata: current?.metadata ?? {
        ...this.ref,
        labels: { [Label.offloadingComponent]: LabelValue.virtualKubelet },
      },
      spec: {
        holderIdentity: identity,
        leaseDurationSeconds: Math.ceil(durationMs / 1000),
        renewTime: microTimestamp(clock),
      },
    };
  }

  private async count(): Promise<number> {
    const { client, clock, namespace, durationMs } = this.parts;
    const labelSelector = `${Label.offloadingComponent}=${LabelValue.virtualKubelet}`;
    const leases = await client.list(Lease, { namespace, labelSelector });
    const now = clock.monotonic();
    for (const { metadata } of leases) {
      if (this.seen.get(metadata.name)?.version === metadata.resourceVersion) continue;
      this.seen.set(metadata.name, { version: metadata.resourceVersion, at: now });
    }
    const present = new Set(leases.map(({ metadata }) => metadata.name));
    for (const name of this.seen.keys()) if (!present.has(name)) this.seen.delete(name);
    return [...this.seen.values()].filter(({ at }) => now - at < durationMs).length;
  }
}

/**
 * The nodes that a replica gives up so that all replicas host about the same number: those beyond its share, last names first. Nodes that it gave up
 * lately, and that came back, stay.
 */
export function surplus(
  hosted: readonly string[],
  total: number,
  replicas: number,
  offered: ReadonlySet<string>,
): string[] {
  const share = Math.ceil(total / Math.max(1, replicas));
  const excess = hosted.length - share;
  if (excess <= 0) return [];
  return [...hosted]
    .sort()
    .reverse()
    .filter((key) => !offered.has(key))
    .slice(0, excess);
}
