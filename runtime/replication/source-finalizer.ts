import { Finalizer, type Kind } from "../api";
import { isNotFound, type KubeClient } from "../kube";
import { isSource } from "../plan/peer-objects";
import type { Replicable } from "./copy";

/** Holds a source until its copy is gone: adds the replicator's finalizer. */
export async function holdSource(
  client: KubeClient,
  kind: Kind<Replicable>,
  source: Replicable,
): Promise<Replicable> {
  return await writeFinalizers(client, kind, source, [
    ...(source.metadata.finalizers ?? []),
    Finalizer.replicatedResource,
  ]);
}

/** Lets a source go: removes the replicator's finalizer, if it is there. */
export async function releaseSource(
  client: KubeClient,
  kind: Kind<Replicable>,
  source: Replicable,
): Promise<void> {
  const finalizers = source.metadata.finalizers ?? [];
  if (!finalizers.includes(Finalizer.replicatedResource)) return;
  const others = finalizers.filter((name) => name !== Finalizer.replicatedResource);
  await unlessGone(writeFinalizers(client, kind, source, others));
}

/** Held as a source, though it is none any more: somebody took its labels. */
export function isDisowned(object: Replicable): boolean {
  return object.metadata.finalizers?.includes(Finalizer.replicatedResource) === true && !isSource(object);
}

async function writeFinalizers(
  client: KubeClient,
  kind: Kind<Replicable>,
  { metadata }: Replicable,
  finalizers: string[],
): Promise<Replicable> {
  const { uid, resourceVersion } = metadata;
  return await client.patch(
    kind,
    metadata,
    { metadata: { uid, resourceVersion, finalizers } },
    { type: "merge" },
  );
}

/** A write to an object that has gone meanwhile is no longer wanted. */
export async function unlessGone(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
