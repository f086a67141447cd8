import { DaemonSet, Pod } from "../api";
import type { RuntimeContext } from "../kube";
import { controllerOf } from "../kube";
import { removeRoutes } from "../networking/agent/routes-pass";
import { removeTables } from "../networking/agent/tables-pass";
import type { Kernel } from "../networking/kernel/kernel";

/** Removes from the node everything that agents have put there, and nothing else. */
export async function cleanUp(kernel: Kernel): Promise<void> {
  await removeRoutes({ kernel });
  await removeTables({ kernel });
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
