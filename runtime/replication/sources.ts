import { EventReason, type Kind, type KubeObject, Label } from "../api";
import type { Informer, RuntimeContext } from "../kube";
import { isSource } from "../plan/peer-objects";
import type { Replicable } from "./copy";
import { replicatedKinds } from "./copy";

import { Finalizer } from "../api";
import { isNotFound, type KubeClient } from "../kube";

const peer = "peer";

/** The objects of the replicated kinds on this cluster, and the release of those that no peer's replicator serves. */
export class UnservedSources {
  private readonly sources: ReadonlyMap<string, Informer<Replicable>>;

  constructor(private readonly runtime: Pick<RuntimeContext, "client" | "informers" | "events">) {
    this.sources = new Map(replicatedKinds.map((kind) => [kind.plural, runtime.informers.informer(kind)]));
    for (const informer of this.sources.values()) informer.addIndex(peer, destinationOf);
  }

  /** All local objects of each replicated kind, by plural. */
  get informers(): ReadonlyMap<string, Informer<Replicable>> {
    return this.sources;
  }

  /** Releases sources that are being deleted and that no replicator serves: otherwise their finalizer would stay for ever. */
  async release(clusterId: string, servedNamespace: string | undefined): Promise<void> {
    for (const kind of replicatedKinds) {
      for (const source of this.of(kind).byIndex(peer, clusterId)) {
        const { namespace, deletionTimestamp } = source.metadata;
        if (!deletionTimestamp || namespace === servedNamespace) continue;
        await releaseSource(this.runtime.client, kind, source);
      }
    }
  }

  /**
   * What is no source any more and is being deleted, where no replicator looks after its copy.
   *
   * @param served namespaces that replicators look after
   */
  async releaseDisowned(served: ReadonlySet<string>): Promise<void> {
    for (const kind of replicatedKinds) {
      for (const object of this.of(kind).list()) {
        if (!isDisowned(object) || !object.metadata.deletionTimestamp) continue;
        if (!served.has(object.metadata.namespace ?? ""))
          await releaseSource(this.runtime.client, kind, object);
      }
    }
  }

  /** Nothing of what is to be copied to a peer can be, without an identity there. */
  tellMissingIdentity(clusterId: string): void {
    for (const kind of replicatedKinds) {
      for (const source of this.of(kind).byIndex(peer, clusterId)) {
        if (source.metadata.deletionTimestamp) continue;
        this.runtime.events.warning(
          source,
          EventReason.controlPlaneIdentityMissing,
          `not copied to cluster "${clusterId}" yet: no Secret is labelled ${Label.identityType}=ControlPlane and ${Label.remoteClusterID}=${clusterId}; authenticate with the cluster, or make the Secret`,
        );
      }
    }
  }

  private of(kind: Kind<Replicable>): Informer<Replicable> {
    const informer = this.sources.get(kind.plural);
    if (informer === undefined) throw new Error(`${kind.plural} are not watched`);
    return informer;
  }
}

/** The peer that an object asks to be copied to. */
export function destinationOf(object: KubeObject): string[] {
  if (!isSource(object)) return [];
  const value = object.metadata.labels?.[Label.replicationDestination];
  return value === undefined || value === "" ? [] : [value];
}

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

/** Whether an object has the finalizer of a source without the labels of one: somebody removed them. */
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

/** Awaits a write, and ignores that its object no longer exists. */
export async function unlessGone(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
