import type { Kind, KubeObject } from "../../api";
import { isDeleting, keyOf, type ReconcileRun, withoutFinalizer } from "../../kube";
import type { AgentContext } from "./agent-context";

/** The oldest first: of two that exclude each other, the one that was there before stays. */
export function byAge(a: KubeObject, b: KubeObject): number {
  const age = (object: KubeObject) => `${object.metadata.creationTimestamp ?? ""} ${keyOf(object)}`;
  return age(a) < age(b) ? -1 : 1;
}

/** Says, in the log and in an event, why an object is not applied. */
export function describe(
  { runtime, host }: AgentContext,
  run: ReconcileRun,
  object: KubeObject,
  reason: string,
  error: Error,
): void {
  run.log.warn("configuration not applied", { object: keyOf(object), error });
  runtime.events.warning(object, reason, `${host}: ${error.message}`);
}

/** Takes a finalizer off what is being deleted. */
export async function releaseDeleted<T extends KubeObject>(
  { runtime }: AgentContext,
  kind: Kind<T>,
  objects: readonly T[],
  finalizer: string | undefined,
): Promise<void> {
  if (finalizer === undefined) return;
  for (const object of objects.filter(isDeleting)) {
    await withoutFinalizer(runtime.client, kind, object, finalizer);
  }
}
