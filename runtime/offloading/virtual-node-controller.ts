import { Finalizer, type KubeObject, Label, LabelValue, Lease, Node, VirtualNode } from "../api";
import {
  type Clock,
  type Controller,
  hasFinalizer,
  isDeleting,
  keyOf,
  type KubeClient,
  type Outcome,
  patchStatusIfChanged,
  runController,
  timestamp,
  watches,
  withoutFinalizer,
  writeIfChanged,
} from "../kube";
import type { OffloadingContext } from "./context";
import { BY_CLUSTER, BY_NAME, clusterOfSource, type ConsumerCaches, deathChanged } from "./consumer-caches";

import { drain } from "./drain";

/** Pods of a node that is being emptied are looked at this often; evictions that a budget refuses are asked for again. */
const LOOK_AGAIN_MS = 500;
const BLOCKED_MS = 5_000;
/** A virtual kubelet lets go within a moment of being told; one that is dead, when its lease runs out. */
const RELEASE_MS = 200;

/**
 * Follows virtual nodes from their finalizer to their removal. There is no Deployment for each: one virtual kubelet serves all of them, reads
 * their VirtualNodes by itself, and lets go of a node when the condition VirtualKubelet says `Deleting`. The Deployment in `spec.template` is
 * for readers of the API; nothing is made of it.
 *
 * @see offloading reference 5.4 and 5.5
 */
export function virtualNodeController(context: OffloadingContext, caches: ConsumerCaches): Controller {
  const ofCluster = (cluster: string | undefined) =>
    cluster === undefined ? [] : caches.virtualNodes.byIndex(BY_CLUSTER, cluster).map(keyOf);
  return runController(
    {
      name: "virtualnode",
      sources: [
        watches(caches.virtualNodes),
        watches(caches.nodes, {
          keys: ({ metadata }) => caches.virtualNodes.byIndex(BY_NAME, metadata.name).map(keyOf),
        }),
        watches(caches.namespaceMaps, {
          keys: (map) => ofCluster(clusterOfSource(map)),
          when: ({ type }) => type !== "updated",
        }),
        watches(caches.foreignClusters, {
          keys: ({ spec }) => ofCluster(spec.clusterID),
          when: deathChanged,
        }),
      ],
      objectOf: (key) => caches.virtualNodes.getByKey(key),
      reconcile: async (key) => {
        const node = caches.virtualNodes.getByKey(key);
        if (node === undefined) return;
        return isDeleting(node) ? await remove(node, context, caches) : await follow(node, context, caches);
      },
    },
    context,
  );
}

async function follow(
  observed: VirtualNode,
  context: OffloadingContext,
  caches: ConsumerCaches,
): Promise<Outcome> {
  const cluster = observed.spec.clusterID ?? "";
  const { name, namespace, finalizers = [], labels } = observed.metadata;
  const { object: virtualNode } = await writeIfChanged(
    context.client,
    VirtualNode,
    {
      apiVersion: observed.apiVersion,
      kind: observed.kind,
      metadata: {
        name,
        namespace,
        finalizers: hasFinalizer(observed, Finalizer.virtualNode)
          ? finalizers
          : [...finalizers, Finalizer.virtualNode],
        // What concerns a peer is found by this label; users who write a virtual node by hand may have left it out.
        ...(labels?.[Label.remoteClusterID] === undefined
          ? { labels: { [Label.remoteClusterID]: cluster } }
          : {}),
      },
    },
    observed,
  );
  const node = caches.nodes.get(name);
  const mayRun = !caches.isUnknown(cluster) && caches.namespaceMapOf(cluster) !== undefined;
  const virtualKubelet = mayRun ? "Running" : "Creating";
  if (virtualNode.spec.createNode !== false) {
    await writeConditions(
      virtualNode,
      { VirtualKubelet: virtualKubelet, Node: node === undefined ? "Creating" : "Running" },
      context,
    );
    return;
  }
  if (node === undefined || !isMadeByVirtualKubelet(node)) {
    await writeConditions(virtualNode, { VirtualKubelet: virtualKubelet, Node: "None" }, context);
    return;
  }
  const draining = await writeConditions(
    virtualNode,
    { VirtualKubelet: virtualKubelet, Node: "Draining" },
    context,
  );
  const step = await emptyNode(context.client, node, caches.isDead(cluster));
  if (step.step !== "gone") return lookAgain(step);
  await writeConditions(draining, { Node: "Deleting" }, context);
  await deleteNode(node, context);
  return { requeueAfterMs: LOOK_AGAIN_MS };
}

/** Each step is repeated until the world says that it is done, so that a restart in between costs nothing. */
async function remove(
  virtualNode: VirtualNode,
  context: OffloadingContext,
  caches: ConsumerCaches,
): Promise<Outcome> {
  if (!hasFinalizer(virtualNode, Finalizer.virtualNode)) return;
  const { client, clock } = context;
  const { name } = virtualNode.metadata;
  let current = virtualNode;
  const cached = caches.nodes.get(name);
  if (cached !== undefined && isMadeByVirtualKubelet(cached)) {
    current = await writeConditions(current, { Node: "Draining" }, context);
    const step = await emptyNode(client, cached, caches.isDead(virtualNode.spec.clusterID ?? ""));
    if (step.step !== "gone") return lookAgain(step);
  }
  current = await writeConditions(current, { VirtualKubelet: "Deleting" }, context);
  if (await isHosted(client, virtualNode, clock)) return lookAgain({ step: "releasing" });
  // Asked of the API server: a Node that our watch has not seen yet must not be left behind.
  const node = await client.get(Node, { name });
  if (node !== undefined && isMadeByVirtualKubelet(node)) {
    current = await writeConditions(current, { Node: "Deleting" }, context);
    await deleteNode(node, context);
  }
  await withoutFinalizer(client, VirtualNode, current, Finalizer.virtualNode);
}

function lookAgain(step: RemovalStep): Outcome {
  switch (step.step) {
    case "draining":
      // Listing many pods costs the API server more, so it is asked less often.
      return { requeueAfterMs: step.blocked === step.left ? BLOCKED_MS : LOOK_AGAIN_MS + step.left };
    case "releasing":
      return { requeueAfterMs: RELEASE_MS };
    case "gone":
      return;
  }
}

async function deleteNode({ metadata }: KubeObject, { client }: OffloadingContext): Promise<void> {
  await client.delete(Node, { name: metadata.name }, { uid: metadata.uid ?? "" });
}

async function writeConditions(
  virtualNode: VirtualNode,
  desiredConditions: DesiredVirtualNodeConditions,
  { client, clock }: OffloadingContext,
): Promise<VirtualNode> {
  const conditions = withConditions(virtualNode.status?.conditions, desiredConditions, timestamp(clock));
  const { object } = await patchStatusIfChanged(client, VirtualNode, virtualNode, { conditions });
  return object;
}

/** What a node's removal has come to. */
type RemovalStep =
  /** Pods are leaving. */
  | { step: "draining"; left: number; blocked: number }
  /** The virtual kubelet has still the node in its hands. */
  | { step: "releasing" }
  | { step: "gone" };

/** Whether a Node was made by a virtual kubelet; a user may have made one of the same name where there is to be none. */
function isMadeByVirtualKubelet({ metadata }: Node): boolean {
  const { labels = {} } = metadata;
  return (
    labels[Label.nodeType] === LabelValue.virtualNode &&
    labels[Label.nodeTypeForAutoscaler] === LabelValue.virtualKubelet
  );
}

/** Cordons a node and asks its pods to leave. */
async function emptyNode(client: KubeClient, node: Node, force: boolean): Promise<RemovalStep> {
  if (node.spec.unschedulable !== true) {
    const body = { metadata: { uid: node.metadata.uid }, spec: { unschedulable: true } };
    await client.patch(Node, { name: node.metadata.name }, body, { type: "merge" });
  }
  const { left, blocked } = await drain(client, node.metadata.name, { force });
  return left > 0 ? { step: "draining", left, blocked } : { step: "gone" };
}

/** Whether a virtual kubelet hosts the node still: it holds the lease named after it, and that has not run out. */
async function isHosted(client: KubeClient, { metadata }: VirtualNode, clock: Clock): Promise<boolean> {
  const { name, namespace } = metadata;
  const lease = await client.get(Lease, { name, ...(namespace === undefined ? {} : { namespace }) });
  const { holderIdentity, renewTime, leaseDurationSeconds = 15 } = lease?.spec ?? {};
  if (!holderIdentity || !renewTime) return false;
  return Date.parse(renewTime) + leaseDurationSeconds * 1000 > clock.now();
}

type VirtualNodeConditionType = "VirtualKubelet" | "Node";
export type VirtualNodeConditionStatus = "None" | "Creating" | "Running" | "Draining" | "Deleting";

interface VirtualNodeCondition {
  type: VirtualNodeConditionType;
  status: VirtualNodeConditionStatus;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

type DesiredVirtualNodeConditions = Partial<Record<VirtualNodeConditionType, VirtualNodeConditionStatus>>;

/** Steps that say nothing new: what runs is not being created, what does not exist cannot be drained. */
const IGNORED: ReadonlySet<string> = new Set([
  "Running→Creating",
  "None→Draining",
  "None→Deleting",
  "Deleting→Draining",
]);

/**
 * The conditions with what was found: one entry a type, in the order VirtualKubelet, Node; the same list when nothing changes.
 * Entries that upstream doubled are read as their first.
 *
 * @see offloading reference 5.4
 */
export function withConditions(
  previous: readonly VirtualNodeCondition[] | undefined,
  desiredConditions: DesiredVirtualNodeConditions,
  now: string,
): VirtualNodeCondition[] {
  const types: VirtualNodeConditionType[] = ["VirtualKubelet", "Node"];
  return types.flatMap((type) => {
    const before = previous?.find((condition) => condition.type === type);
    const status = desiredConditions[type];
    if (status === undefined || !isTransition(before?.status, status))
      return before === undefined ? [] : [before];
    return [{ type, status, lastTransitionTime: now }];
  });
}

function isTransition(from: VirtualNodeConditionStatus | undefined, to: VirtualNodeConditionStatus): boolean {
  return from === undefined || (from !== to && !IGNORED.has(`${from}→${to}`));
}
