import type { Kind, KubeObject, ObjectRef } from "../../runtime/api";
import { collectionPath, type KubeClient, withQuery } from "../../runtime/kube";

/** One object as it is at a moment. */
export interface Observation<T> {
  object: T | undefined;
  /** Resolves when the object may have changed since, at the latest after the time given; rejects when the watch fails. */
  change(withinMs: number): Promise<void>;
}

/**
 * Reads an object together with the point from which to watch it. The watch only wakes the caller, who reads again: what counts is the
 * present object, so no event can be missed or come in the wrong order.
 */
export async function observe<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  ref: ObjectRef,
  limits: { signal: AbortSignal; deadlineMs: number },
): Promise<Observation<T>> {
  const fieldSelector = `metadata.name=${ref.name}`;
  const namespace = kind.namespaced ? ref.namespace : undefined;
  const selection = { fieldSelector, ...(namespace !== undefined && { namespace }) };
  const pages = client.listPages(kind, selection, limits);
  const { value: page } = await pages.next();
  await pages.return(undefined);
  return {
    object: page?.items[0],
    change: (withinMs) =>
      firstEvent(
        client,
        withQuery(collectionPath(kind, namespace), {
          watch: "true",
          fieldSelector,
          resourceVersion: page?.resourceVersion,
          timeoutSeconds: Math.max(1, Math.ceil(withinMs / 1000)),
        }),
        { signal: limits.signal, withinMs },
      ),
  };
}

async function firstEvent(
  client: KubeClient,
  path: string,
  limits: { signal: AbortSignal; withinMs: number },
): Promise<void> {
  const { body, status } = await client.stream({ path, signal: limits.signal });
  if (status !== 200) {
    // Mostly 410: the point to watch from is gone, and reading again gives a new one.
    body.destroy();
    return;
  }
  await new Promise<void>((resolve, reject) => {
    // The server ends the watch by itself; the timer is for a connection that died silently.
    const timer = setTimeout(done, limits.withinMs + 1_000);
    function done(): void {
      clearTimeout(timer);
      body.destroy();
      resolve();
    }
    body.once("data", done).once("end", done);
    body.once("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
  });
}
