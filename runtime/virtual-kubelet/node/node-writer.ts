import { Node } from "../../api/kubernetes";
import { type Clock, isAlreadyExists, type KubeClient, timestamp } from "../../kube";
import type { NodeSettings } from "../settings/node-settings";
import { nodeMetadata, nodeMetadataPatch } from "./node-metadata";
import { nodeStatusPatch, type NodeStatusInput } from "./node-status";

/** How often the heartbeat in the conditions is renewed when nothing changes; the lease is what counts. As a kubelet does. */
export const HEARTBEAT_MS = 300_000;

export interface NodeFacts {
  settings: NodeSettings;
  /** Absent where the network between the clusters does not matter. */
  networkReady: boolean | undefined;
  address: string;
  port: number;
  kubeletVersion: string;
}

/** Makes the Node of a virtual node what it is to be, writing only what differs (offloading reference 7). */
export class NodeWriter {
  constructor(
    private readonly client: KubeClient,
    private readonly clock: Clock,
  ) {}

  /**
   * @param observed undefined where there is no Node; one is then made
   * @returns the Node as it is now
   */
  async write(observed: Node | undefined, facts: NodeFacts): Promise<Node> {
    const { settings } = facts;
    const metadata = nodeMetadata(settings.name, {
      clusterId: settings.clusterId,
      labels: settings.labels,
      annotations: settings.annotations,
      taints: settings.taints,
      storage: settings.storageClass !== undefined,
    });
    const input: NodeStatusInput = {
      resources: settings.resources,
      networkReady: facts.networkReady,
      images: settings.images,
      address: facts.address,
      port: facts.port,
      kubeletVersion: facts.kubeletVersion,
    };
    let node = observed ?? (await this.create(settings.name, metadata, input));
    const ref = { name: settings.name };
    const patch = nodeMetadataPatch(node, metadata);
    if (patch !== undefined) node = await this.client.patch(Node, ref, bound(patch, node), { type: "merge" });
    const status = nodeStatusPatch(node, input, this.timed());
    if (status !== undefined) {
      node = await this.client.patch(Node, ref, bound({ ...status }, node), {
        type: "strategic",
        subresource: "status",
      });
    }
    return node;
  }

  /** Creates the Node with its status, so that nobody sees it before it is ready. */
  private async create(
    name: string,
    { labels, annotations, taints }: ReturnType<typeof nodeMetadata>,
    input: NodeStatusInput,
  ): Promise<Node> {
    const node: Node = {
      apiVersion: Node.apiVersion,
      kind: Node.kind,
      metadata: { name, labels, annotations },
      spec: { taints },
    };
    const patch = nodeStatusPatch(node, input, this.timed());
    if (patch !== undefined) node.status = withoutDirectives(patch.status);
    try {
      return await this.client.create(Node, node);
    } catch (error) {
      const existing = isAlreadyExists(error) ? await this.client.get(Node, { name }) : undefined;
      if (existing === undefined) throw error;
      return existing; // it had lost the label that we select by
    }
  }

  private timed(): { now: string; heartbeatMs: number } {
    return { now: timestamp(this.clock), heartbeatMs: HEARTBEAT_MS };
  }
}

/** A patch for this incarnation only. */
function bound(patch: Record<string, unknown>, { metadata: { uid } }: Node): Record<string, unknown> {
  const metadata = typeof patch.metadata === "object" ? patch.metadata : {};
  return { ...patch, metadata: { ...metadata, uid } };
}

/** The status in a patch without the instructions to the API server. */
function withoutDirectives(status: NonNullable<Node["status"]>): NonNullable<Node["status"]> {
  return { ...status, addresses: status.addresses?.filter((address) => !("$patch" in address)) };
}
