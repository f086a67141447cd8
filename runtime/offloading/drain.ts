import { Pod } from "../api";
import { isNotFound, isTooManyRequests, type KubeClient } from "../kube";

/** How far a node is from being empty. */
interface DrainProgress {
  /** Pods still there. */
  left: number;
  /** Of these, pods that a disruption budget keeps for now. */
  blocked: number;
}

const MIRROR = "kubernetes.io/config.mirror";
/** Requests of one drain under way at a time. */
const AT_ONCE = 32;

/** Pods that a drain waits for. Those of DaemonSets would be back at once, and mirror pods mirror what the kubelet runs (field fault B53). */
export function drainable(pods: readonly Pod[]): Pod[] {
  return pods.filter(
    ({ metadata }) =>
      metadata.annotations?.[MIRROR] === undefined &&
      metadata.ownerReferences?.some(
        ({ kind, controller }) => kind === "DaemonSet" && controller === true,
      ) !== true,
  );
}

/**
 * Asks each pod of a node to leave, and tells how many are left; to be called until none is. Evictions respect disruption budgets; a pod that
 * can't go yet holds up no other. With `force`, pods are removed at once: their node is never coming back.
 */
export async function drain(
  client: KubeClient,
  node: string,
  { force }: { force: boolean },
): Promise<DrainProgress> {
  const pods = drainable(await client.list(Pod, { fieldSelector: `spec.nodeName=${node}` }));
  const leaving = pods.filter(({ metadata }) => force || typeof metadata.deletionTimestamp !== "string");
  let blocked = 0;
  const failures: unknown[] = [];
  for (let at = 0; at < leaving.length; at += AT_ONCE) {
    await Promise.all(
      leaving.slice(at, at + AT_ONCE).map(async (pod) => {
        try {
          if (force) await remove(client, pod);
          else await evict(client, pod);
        } catch (error) {
          if (isTooManyRequests(error)) blocked += 1;
          else if (!isNotFound(error)) failures.push(error);
        }
      }),
    );
  }
  if (failures.length > 0)
    throw new AggregateError(
      failures,
      `node ${node}: ${failures.length} of ${leaving.length} pods could not be drained: ${String(failures[0])}`,
    );
  return { left: pods.length, blocked };
}

async function remove(client: KubeClient, { metadata }: Pod): Promise<void> {
  await client.delete(Pod, metadata, { uid: metadata.uid ?? "", gracePeriodSeconds: 0 });
}

async function evict(client: KubeClient, { metadata: { name, namespace, uid } }: Pod): Promise<void> {
  const eviction = {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name, namespace },
    deleteOptions: { preconditions: { uid } },
  };
  await client.createSubresource(Pod, { name, namespace }, "eviction", eviction, () => undefined);
}
