import { Lease, type Node } from "../../api/kubernetes";
import { type Clock, isConflict, isNotFound, type KubeClient, microTimestamp } from "../../kube";

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
