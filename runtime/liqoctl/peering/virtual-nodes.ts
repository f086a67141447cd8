import { VirtualNode } from "../../api/offloading";
import { Node } from "../../api/kubernetes";
import { Label, LabelValue } from "../../api/keys";
import type { Cluster } from "../cluster/cluster";
import type { Run } from "../run";
import { waitUntil, waitUntilGone } from "../wait";

/** Where to find the virtual nodes of one provider. */
interface Place {
  /** Tenant namespace at the consumer. */
  namespace: string;
  providerId: string;
}

async function virtualNodesOf(
  run: Run,
  consumer: Cluster,
  { namespace, providerId }: Place,
): Promise<VirtualNode[]> {
  const all = await consumer.client.list(VirtualNode, { namespace }, run.call);
  return all.filter(({ spec }) => spec.clusterID === providerId);
}

/** What holds up the removal of a virtual node. */
function evictionsOf(node: string): string {
  return `the node's pods are evicted first, as their disruption budgets allow: kubectl get pods -A --field-selector spec.nodeName=${node}`;
}

/** Removes every virtual node of a provider; returns when they and their Nodes are gone, unless it is not to wait. */
export async function removeVirtualNodes(
  run: Run,
  consumer: Cluster,
  { wait, ...place }: Place & { wait: boolean },
): Promise<void> {
  const labelSelector = `${Label.remoteClusterID}=${place.providerId}`;
  const nodes = () =>
    consumer.client.list(
      Node,
      { labelSelector: `${Label.nodeType}=${LabelValue.virtualNode},${labelSelector}` },
      run.call,
    );
  await run.progress.step(
    consumer.scope,
    "remove the virtual nodes",
    async (waiting) => {
      const virtualNodes = await virtualNodesOf(run, consumer, place);
      for (const { metadata } of virtualNodes)
        await consumer.client.delete(VirtualNode, metadata, { ...run.call, uid: metadata.uid ?? "" });
      if (wait) {
        const next = evictionsOf(virtualNodes[0]?.metadata.name ?? "<node>");
        await waitUntil(run, { waiting, next }, async () => {
          const left = (await virtualNodesOf(run, consumer, place)).map(
            ({ metadata }) => `VirtualNode ${metadata.name}`,
          );
          if (left.length === 0) left.push(...(await nodes()).map(({ metadata }) => `Node ${metadata.name}`));
          return left.length === 0
            ? { is: "met", value: undefined }
            : { is: "open", seen: `${left.join(", ")} still there` };
        });
      }
      return virtualNodes;
    },
    (removed) =>
      removed.length === 0
        ? "no virtual nodes are left"
        : `virtual nodes removed: ${removed.map(({ metadata }) => metadata.name).join(", ")}`,
  );
}

/** Waits for the end of virtual nodes that somebody is removing, as an `unpeer` that was interrupted does: their names are in the way of new ones. */
export async function untilNoneLeaves(run: Run, consumer: Cluster, place: Place): Promise<void> {
  const leaving = async () =>
    (await virtualNodesOf(run, consumer, place))
      .filter(({ metadata }) => metadata.deletionTimestamp != null)
      .map(({ metadata }) => metadata.name);
  const names = await leaving();
  const [first] = names;
  if (first === undefined) return;
  const next = evictionsOf(first);
  await run.progress.step(
    consumer.scope,
    "wait for virtual nodes that are being removed",
    (waiting) =>
      waitUntilGone(run, { waiting, next }, async () => {
        const left = await leaving();
        return left.length === 0 ? undefined : `VirtualNode ${left.join(", ")} is still being removed`;
      }),
    () => `what was being removed is gone: VirtualNode ${names.join(", ")}`,
  );
}

/** Waits until the Node of a virtual node is Ready. */
export async function untilNodeReady(run: Run, consumer: Cluster, name: string): Promise<void> {
  const next = `see its conditions: kubectl describe node ${name}, and those of VirtualNode ${name}`;
  await run.progress.step(
    consumer.scope,
    `wait for node ${name}`,
    (waiting) =>
      waitUntil(run, { waiting, next }, async () => {
        const node = await consumer.client.get(Node, { name }, run.call);
        if (node === undefined) return { is: "open", seen: "there is no Node of this name yet" };
        const ready = node.status?.conditions?.find(({ type }) => type === "Ready");
        return ready?.status === "True"
          ? { is: "met", value: undefined }
          : {
              is: "open",
              seen: `it is not Ready (${ready?.reason ?? "no condition"}): ${ready?.message ?? ""}`,
            };
      }),
    () => `node ${name} is Ready`,
  );
}
