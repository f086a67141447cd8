import { AsyncLocalStorage } from "node:async_hooks";

/** One reconcile: what every line that is logged on its behalf carries, wherever in the code that is. */
export interface ReconcileScope {
  readonly controller: string;
  readonly key: string;
  /** Unique among all processes, practically. */
  readonly reconcileID: string;
}

interface Held extends ReconcileScope {
  /** What a reconcile started and left running is no part of it any more. */
  over: boolean;
}

const scopes = new AsyncLocalStorage<Held>();

/** Runs a reconcile within its scope. */
export async function inReconcileScope<T>(scope: ReconcileScope, work: () => Promise<T>): Promise<T> {
  const held: Held = { ...scope, over: false };
  return await scopes.run(held, async () => {
    try {
      return await work();
    } finally {
      held.over = true;
    }
  });
}

/** The reconcile that the present call belongs to. */
export function reconcileScope(): ReconcileScope | undefined {
  const held = scopes.getStore();
  if (held === undefined || held.over) return undefined;
  const { controller, key, reconcileID } = held;
  return { controller, key, reconcileID };
}
