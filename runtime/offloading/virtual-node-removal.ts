import { Label, LabelValue, Lease, Node, type VirtualNode } from "../api";
import type { Clock, KubeClient } from "../kube";
import { drain } from "./drain";

/** What a node's removal has come to. */
export type RemovalStep =
  /** Pods are leaving. */
  | { step: "draining"; left: number; blocked: number }
  /** The virtual kubelet has still the node in its hands. */
  | { step: "releasing" }
  | { step: "gone" };

/** Whether a Node was made by a virtual kubelet; a user may have made one of the same name where there is to be none. */
export function isMadeByVirtualKubelet({ metadata }: Node): boolean {
  const { labels = {} } = metadata;
  return (
    labels[Label.nodeType] === LabelValue.virtualNode &&
    labels[Label.nodeTypeForAutoscaler] === LabelValue.virtualKubelet
  );
}

/** Cordons a node and asks its pods to leave. */
export async function emptyNode(client: KubeClient, node: Node, force: boolean): Promise<RemovalStep> {
  if (node.spec.unschedulable !== true) {
    const body = { metadata: { uid: node.metadata.uid }, spec: { unschedulable: true } };
    await client.patch(Node, { name: node.metadata.name }, body, { type: "merge" });
  }
  const { left, blocked } = await drain(client, node.metadata.name, { force });
  return left > 0 ? { step: "draining", left, blocked } : { step: "gone" };
}

/** Whether a virtual kubelet hosts the node still: it holds the lease named after it, and that has not run out. */
export async function isHosted(
  client: KubeClient,
  { metadata }: VirtualNode,
  clock: Clock,
): Promise<boolean> {
  const { name, namespace } = metadata;
  const lease = await client.get(Lease, { name, ...(namespace === undefined ? {} : { namespace }) });
  const { holderIdentity, renewTime, leaseDurationSeconds = 15 } = lease?.spec ?? {};
  if (!holderIdentity || !renewTime) return false;
  return Date.parse(renewTime) + leaseDurationSeconds * 1000 > clock.now();
}
