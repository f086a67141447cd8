import type { ForeignCluster } from "../../api";
import { Lease, type Node } from "../../api/kubernetes";
import {
  type Clock,
  isConflict,
  isNotFound,
  type KubeClient,
  type Logger,
  microTimestamp,
  sleep,
} from "../../kube";
import type { ProviderAccess } from "../peer/provider-access";

const NAMESPACE = "kube-node-lease";

/** The lease by which a Node is known to live: one write a renewal. */
export class NodeLease {
  private lease: Lease | undefined;

  constructor(
    private readonly client: KubeClient,
    private readonly clock: Clock,
    private readonly durationMs: number,
  ) {}

  /** Renews the lease, makes it where there is none. */
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

interface Parts {
  access: ProviderAccess;
  foreignCluster: () => ForeignCluster | undefined;
  clock: Clock;
  log: Logger;
  /** 0: the provider always counts as reachable. */
  intervalMs: number;
  timeoutMs: number;
  onChange: () => void;
  /** Told of each failure but the first, which a start may bring about. */
  onFailure: (problem: string) => void;
}

/**
 * Whether the provider's API server answers (offloading reference 7.5). While it does not, the virtual node is not kept alive: Kubernetes then
 * declares it lost in its own time, and evicts by its own rules.
 */
export class ProviderPing {
  /** Why the provider is not reachable; undefined while it is. */
  problem: string | undefined = "not asked yet";

  private failures = 0;

  constructor(private readonly parts: Parts) {}

  get reachable(): boolean {
    return this.problem === undefined;
  }

  /** Asks again and again until the signal is aborted. */
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
    const before = this.problem;
    this.problem = problem;
    this.failures = problem === undefined ? 0 : this.failures + 1;
    if (problem !== undefined && this.failures > 1) this.parts.onFailure(problem);
    if ((before === undefined) === (problem === undefined)) return;
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
      return error instanceof Error ? error.message : String(error);
    }
  }
}
