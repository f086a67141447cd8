import { DaemonSet, Pod } from "../api";
import { controllerOf, type RuntimeContext } from "../kube";
import { removeRoutes } from "../networking/agent/routes-pass";
import { removeTables } from "../networking/agent/tables-pass";
import type { HostGuard } from "../networking/agent/host-guard";
import type { Kernel } from "../networking/kernel/kernel";
import { ROUTE_PROTOCOL } from "../networking/routes/table-id";

/** Removes from the node everything that agents have put there, and nothing else. */
export async function cleanUp(kernel: Kernel): Promise<void> {
  await removeRoutes({ kernel });
  await removeTables({ kernel });
}

/**
 * Gives a host its own addresses back where rules of ours lead them to a peer, as an earlier version let happen: without the API server an
 * agent would never learn what is to be there. All goes, and what may be there comes back with the first pass.
 *
 * @param remove removes everything that agents have put there
 */
export async function freeHost(
  kernel: Pick<Kernel, "rules">,
  guard: HostGuard,
  log: Pick<RuntimeContext["log"], "warn">,
  remove: () => Promise<void>,
): Promise<void> {
  await guard.look();
  const conflicts = (await kernel.rules())
    .filter(({ protocol }) => protocol === ROUTE_PROTOCOL)
    .flatMap(({ dst }) => guard.conflictWith(dst) ?? []);
  if (conflicts.length === 0) return;
  log.warn("routes to a peer went over this node's own addresses, and are removed", { conflicts });
  await remove();
}

/**
 * Whether the agent goes for good, and not for a newer one: its DaemonSet is gone or going. When in doubt it stays, as traffic would
 * be cut by removing what the next agent needs.
 */
export async function goesForGood(
  { client, log }: Pick<RuntimeContext, "client" | "log">,
  pod: { name: string; namespace: string },
): Promise<boolean> {
  if (pod.name === "" || pod.namespace === "") return false;
  try {
    const owner = controllerOf(await client.get(Pod, pod, { deadlineMs: 3_000 }));
    if (owner?.kind !== "DaemonSet") return false;
    const daemonSet = await client.get(
      DaemonSet,
      { name: owner.name, namespace: pod.namespace },
      { deadlineMs: 3_000 },
    );
    return (
      daemonSet === undefined ||
      daemonSet.metadata.uid !== owner.uid ||
      daemonSet.metadata.deletionTimestamp !== undefined
    );
  } catch (error) {
    log.warn("cannot tell whether the agent goes for good; its routes and tables stay", { error });
    return false;
  }
}
