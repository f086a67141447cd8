import type { ForeignCluster } from "../../api";
import { Lease, type Node } from "../../api/kubernetes";
import {
  type Clock,
  isConflict,
  isNotFound,
  type KubeClient,
  type Logger,
  messageOf,
  microTimestamp,
  sleep,
} from "../../kube";
import type { ProviderAccess } from "../peer/provider-access";

const NAMESPACE = "kube-node-lease";

/** The Lease by which Kubernetes sees that a Node is alive: one write for each renewal. */
class NodeLease {
  private lease: Lease | undefined;

  constructor(
    private readonly client: KubeClient,
    private readonly clock: Clock,
    private readonly durationMs: number,
  ) {}

  /** Renews the Lease, or creates it. */
  async renew(node: Node): Promise<void> {
    this.lease = (await this.replace(node)) ?? (await this.take(node));
  }

  private async replace(node: Node): Promise<Lease | undefined> {
    if (this.lease === undefined) return undefined;
    try {
      return await this.client.replace(Lease, this.renewed(this.lease, node));
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) return undefined;
      throw error;
    }
  }

  private async take(node: Node): Promise<Lease> {
    const { name } = node.metadata;
    const existing = await this.client.get(Lease, { name, namespace: NAMESPACE });
    if (existing !== undefined) return await this.client.replace(Lease, this.renewed(existing, node));
    const fresh: Lease = {
      apiVersion: Lease.apiVersion,
      kind: Lease.kind,
      metadata: { name, namespace: NAMESPACE },
      spec: {},
    };
    return await this.client.create(Lease, this.renewed(fresh, node));
  }

  private renewed(lease: Lease, node: Node): Lease {
    const { name, uid = "" } = node.metadata;
    return {
      ...lease,
      metadata: { ...lease.metadata, ownerReferences: [{ apiVersion: "v1", kind: "Node", name, uid }] },
      spec: {
        ...lease.spec,
        holderIdentity: name,
        leaseDurationSeconds: Math.ceil(this.durationMs / 1000),
        renewTime: microTimestamp(this.clock),
      },
    };
  }
}

/**
 * How many pings in a row must fail before the provider counts as lost and its node gets no more heartbeats. The pings go every `--node-ping-interval`
 * and fail after `--node-ping-timeout`. From then on Kubernetes waits: `--node-monitor-grace-period` of the consumer's controller manager until the node
 * is Unknown, then each pod's toleration of `node.kubernetes.io/unreachable` until it is evicted.
 */
export const FAILURES_UNTIL_LOST = 1;

/** What a ping needs of the access to the provider. */
type ProviderConnection = Pick<ProviderAccess, "problem" | "onChange"> & {
  readonly pingClient: Pick<KubeClient, "raw"> | undefined;
};

interface PingParts {
  access: ProviderConnection;
  foreignCluster: () => ForeignCluster | undefined;
  clock: Clock;
  log: Logger;
  /** 0: the provider always counts as reachable. */
  intervalMs: number;
  timeoutMs: number;
  onChange: () => void;
  /** Default: {@link FAILURES_UNTIL_LOST}. */
  failuresUntilLost?: number;
  /** Called for each failure while the provider already counts as lost. The first in a row does not count: it may be part of a start. */
  onFailure: (problem: string) => void;
}

/** Whether the provider's API server answers (offloading reference 7.5). */
export class ProviderPing {
  /** Why the provider is not reachable; undefined while it is. */
  problem: string | undefined = "not asked yet";

  private failures = 0;

  constructor(private readonly parts: PingParts) {}

  get reachable(): boolean {
    return this.problem === undefined;
  }

  /** Pings until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, intervalMs, access } = this.parts;
    let wake = new AbortController();
    const end = access.onChange(() => wake.abort());
    while (!signal.aborted) {
      this.judge(await this.ask(signal));
      if (intervalMs === 0) break;
      wake = new AbortController();
      await sleep(clock, intervalMs, AbortSignal.any([signal, wake.signal]));
    }
    end();
  }

  private judge(problem: string | undefined): void {
    const { failuresUntilLost = FAILURES_UNTIL_LOST } = this.parts;
    const before = this.problem;
    this.failures = problem === undefined ? 0 : this.failures + 1;
    const wasReachable = before === undefined;
    if (!wasReachable || this.failures === 0 || this.failures >= failuresUntilLost) this.problem = problem;
    if (problem !== undefined && !wasReachable && this.failures > 1) this.parts.onFailure(problem);
    if (wasReachable === this.reachable) return;
    if (problem === undefined) this.parts.log.info("provider is reachable");
    else this.parts.log.warn("provider is not reachable", { problem });
    this.parts.onChange();
  }

  private async ask(signal: AbortSignal): Promise<string | undefined> {
    const { access, foreignCluster, intervalMs, timeoutMs } = this.parts;
    if (access.pingClient === undefined) return access.problem ?? "there is no kubeconfig yet";
    if (intervalMs === 0) return undefined;
    const condition = foreignCluster()?.status?.conditions?.find(({ type }) => type === "APIServerStatus");
    if (condition?.status === "Established") return undefined;
    if (condition !== undefined && condition.status !== "None") {
      return `the ForeignCluster says APIServerStatus ${condition.status}`;
    }
    try {
      const { status } = await access.pingClient.raw({ path: "/livez", deadlineMs: timeoutMs, signal });
      return status === 200 ? undefined : `/livez answers ${status}`;
    } catch (error) {
      return messageOf(error);
    }
  }
}

interface HeartbeatParts {
  client: KubeClient;
  clock: Clock;
  log: Logger;
  ping: ProviderPing;
  /** The Node to keep alive; undefined where there is none, or none that is ours to keep. */
  node: () => Node | undefined;
  /** Written to the Lease; a quarter of it is the time between two renewals, in milliseconds. */
  leaseDurationMs: number;
}

/** The longest time between two looks for a Node to keep alive, in milliseconds. */
const NODE_LOOK_MS = 1_000;

/** Keeps a Node alive, while its provider answers, until the signal is aborted. */
export async function keepNodeAlive(parts: HeartbeatParts, signal: AbortSignal): Promise<void> {
  const { client, clock, log, ping, leaseDurationMs } = parts;
  const lease = new NodeLease(client, clock, leaseDurationMs);
  const everyMs = leaseDurationMs / 4;
  while (!signal.aborted) {
    const node = ping.reachable ? parts.node() : undefined;
    if (node !== undefined) {
      try {
        await lease.renew(node);
      } catch (error) {
        log.warn("node lease not renewed", { virtualNode: node.metadata.name, error });
      }
    }
    // A Node that was just created, or a provider that came back, does not wait for a whole period.
    await sleep(clock, node !== undefined ? everyMs : Math.min(NODE_LOOK_MS, everyMs), signal);
  }
}
