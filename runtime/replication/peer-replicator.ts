import { EventReason, Finalizer, type Kind, Label, LabelValue } from "../api";
import {
  type Controller,
  type ControllerContext,
  type Informer,
  InformerSet,
  isAlreadyExists,
  isForbidden,
  isNotFound,
  type KubeClient,
  type Outcome,
  patchStatusIfChanged,
  type ReconcileRun,
  runController,
  semanticallyEqual,
  type Source,
  watches,
} from "../kube";
import { copySelector, isSource } from "../plan/replication";
import { copyMetadata, type Replicable, type Route } from "./copy";
import { decide } from "./decide";
import { Recreation } from "./recreation";
import { readReplicaKey, replicaKey, replicatedKinds } from "./replicated-kinds";

export interface PeerReplicatorOptions {
  route: Route;
  /** Where the sources are: the namespace of the peer's control-plane Secret. */
  localNamespace: string;
  local: KubeClient;
  /** Of this peer alone: its connections and its watches are nobody else's. */
  remote: KubeClient;
  /** All local objects of each replicated kind, by plural. */
  sources: ReadonlyMap<string, Informer<Replicable>>;
  isDead: () => boolean;
  /** A source or a copy appeared or went. */
  onPresenceChange: () => void;
}

/** Replicates the objects for one peer, from the moment it is made until it is stopped (control plane reference 11.3, 11.4). */
export class PeerReplicator {
  private readonly informers: InformerSet;
  private readonly copies: Map<string, Informer<Replicable>>;
  private readonly controller: Controller;
  private readonly recreation: Recreation;
  /** Copies whose spec reads differently at the peer than we wrote it, because its API has other defaults or fields. */
  private readonly settled = new Map<string, { uid?: string; generation?: number; spec: unknown }>();

  constructor(
    private readonly options: PeerReplicatorOptions,
    private readonly context: ControllerContext,
  ) {
    const { remote, route } = options;
    const log = context.log.child({ peer: route.remoteClusterId });
    this.recreation = new Recreation(() => context.clock.monotonic());
    this.informers = new InformerSet(remote, { log, clock: context.clock, metrics: context.metrics });
    this.copies = new Map(
      replicatedKinds.map((kind) => [
        kind.plural,
        this.informers.informer(kind, {
          namespace: route.remoteNamespace,
          labelSelector: copySelector(route.localClusterId),
        }),
      ]),
    );
    this.controller = runController(
      {
        name: `crdreplicator_${route.remoteClusterId}`,
        sources: replicatedKinds.flatMap((kind) => [this.localSource(kind), this.remoteSource(kind)]),
        objectOf: (key) => this.source(readReplicaKey(key)),
        reconcile: (key, run) => this.reconcile(key, run),
      },
      { ...context, log },
    );
  }

  /** Looks at every source again, because of something that the sources do not tell of. */
  enqueueAll(): void {
    for (const kind of replicatedKinds) {
      for (const { metadata } of this.ownSources(kind)) {
        this.controller.enqueue(replicaKey(kind, metadata.name));
      }
    }
  }

  /** Whether sources for this peer are left in its namespace. */
  get hasSources(): boolean {
    return replicatedKinds.some((kind) => this.ownSources(kind).length > 0);
  }

  /** Whether copies are left at the peer, asked of it now. None are where it forbids us to look: they are out of our reach. */
  async hasCopies(): Promise<boolean> {
    const { remote, route } = this.options;
    const selection = {
      namespace: route.remoteNamespace,
      labelSelector: copySelector(route.localClusterId),
    };
    for (const kind of replicatedKinds) {
      try {
        if ((await remote.list(kind, selection)).length > 0) return true;
      } catch (error) {
        if (!isForbidden(error)) throw error;
      }
    }
    return false;
  }

  /** Ends at once, without looking at what is left. */
  async stop(): Promise<void> {
    const stopped = this.controller.stop();
    // Cuts short what still waits for the peer's answer.
    this.options.remote.close();
    await stopped;
    await this.informers.stop();
  }

  private localSource(kind: Kind<Replicable>): Source {
    const { localNamespace, route, onPresenceChange } = this.options;
    return watches(this.sourcesOf(kind), {
      keys: ({ metadata }) => [replicaKey(kind, metadata.name)],
      when: (event) => {
        if (event.object.metadata.namespace !== localNamespace) return false;
        if (event.type !== "updated") onPresenceChange();
        const concerned = event.type === "updated" ? [event.before, event.object] : [event.object];
        return concerned.some((object) => isSource(object, route.remoteClusterId));
      },
    });
  }

  /** Tells of copies, and once the peer has answered of everything; until then sources are held and released without it. */
  private remoteSource(kind: Kind<Replicable>): Source {
    const informer = this.copiesOf(kind);
    const source = watches(informer, {
      keys: ({ metadata }) => [replicaKey(kind, metadata.name)],
      when: (event) => {
        if (event.type !== "updated") this.options.onPresenceChange();
        return true;
      },
    });
    return {
      start: (enqueue) => {
        informer.whenSynced().then(
          () => {
            this.options.onPresenceChange();
            // Whatever was looked at before was looked at without the peer; copies without a source are orphans.
            for (const { metadata } of [...this.ownSources(kind), ...informer.list()]) {
              enqueue(replicaKey(kind, metadata.name));
            }
          },
          () => undefined, // stopped before the peer ever answered
        );
        return source.start(enqueue);
      },
      whenSynced: () => Promise.resolve(),
    };
  }

  private async reconcile(key: string, run: ReconcileRun): Promise<Outcome> {
    const { kind, name } = readReplicaKey(key);
    const source = this.source({ kind, name });
    const informer = this.copiesOf(kind);
    const copy = informer.synced ? informer.get(name, this.options.route.remoteNamespace) : "unknown";
    const decision = decide({
      source,
      copy,
      peerDead: this.options.isDead(),
      specSettled: this.isSettled(key, source, copy),
    });
    let held = source;
    if (decision.addFinalizer && source !== undefined) held = await this.hold(kind, source);
    const outcome = await this.settleCopy(key, kind, decision.copy, held, copy, run);
    if (decision.pullStatus && held !== undefined && copy !== undefined && copy !== "unknown") {
      await unlessGone(
        patchStatusIfChanged(this.options.local, kind, held, copy.status ?? {}, { exact: [""] }),
      );
    }
    if ((decision.removeFinalizer || outcome === "gone") && held !== undefined)
      await this.release(kind, held);
    if (source === undefined) {
      this.settled.delete(key);
      this.recreation.forget(key);
    }
    return typeof outcome === "object" ? outcome : undefined;
  }

  /** @returns "gone" where a copy that was not seen turns out not to be there */
  private async settleCopy(
    key: string,
    kind: Kind<Replicable>,
    action: ReturnType<typeof decide>["copy"],
    source: Replicable | undefined,
    copy: Replicable | "unknown" | undefined,
    run: ReconcileRun,
  ): Promise<Outcome | "gone"> {
    const { remote } = this.options;
    switch (action) {
      case "keep":
      case "wait":
        return undefined;
      case "create":
        return source === undefined ? undefined : await this.create(key, kind, source, run);
      case "update": {
        if (source === undefined || copy === undefined || copy === "unknown") return undefined;
        this.noteSpec(key, source, await remote.replace(kind, { ...copy, spec: source.spec }));
        return undefined;
      }
      case "delete":
        return copy === undefined || copy === "unknown" ? undefined : await this.deleteCopy(kind, copy);
      case "delete-unseen":
        return source === undefined ? undefined : await this.deleteUnseen(kind, source.metadata.name);
    }
  }

  private async create(
    key: string,
    kind: Kind<Replicable>,
    source: Replicable,
    run: ReconcileRun,
  ): Promise<Outcome> {
    const requeueAfterMs = this.recreation.delayMs(key);
    if (requeueAfterMs > 0) return { requeueAfterMs };
    const { remote, route } = this.options;
    this.recreation.attempted(key);
    try {
      const copy = await remote.create(kind, {
        apiVersion: kind.apiVersion,
        kind: kind.kind,
        metadata: copyMetadata(source, route),
        spec: source.spec,
      });
      this.noteSpec(key, source, copy);
      return undefined;
    } catch (error) {
      if (isForbidden(error)) {
        // Drained, or not bound yet: nobody tells us when that changes, so ask again.
        run.log.info("the peer does not let us make a copy", { kind: kind.kind, error });
        this.context.events?.warning(source, EventReason.replicationForbidden, error.message);
        return { requeueAfterMs: Math.max(1_000, this.recreation.delayMs(key)) };
      }
      if (isAlreadyExists(error)) return await this.meetNamesake(kind, source);
      throw error;
    }
  }

  /** A copy that our watch has not told of yet, or somebody else's object, which is left alone. */
  private async meetNamesake(kind: Kind<Replicable>, source: Replicable): Promise<Outcome> {
    const { remote, route } = this.options;
    const ref = { name: source.metadata.name, namespace: route.remoteNamespace };
    const found = await remote.get(kind, ref);
    if (found === undefined || this.isOurs(found)) return { requeueAfterMs: 1_000 };
    this.context.events?.warning(
      source,
      EventReason.replicationConflict,
      `${kind.kind} "${ref.namespace}/${ref.name}" of cluster "${route.remoteClusterId}" is not a copy of this object; remove it, or choose another name`,
    );
    return { requeueAfterMs: 30_000 };
  }

  private async deleteCopy(kind: Kind<Replicable>, copy: Replicable): Promise<Outcome | "gone"> {
    try {
      const existed = await this.options.remote.delete(kind, copy.metadata, { uid: copy.metadata.uid });
      // The watch tells when it is gone; should that be down, asking again does.
      return existed ? { requeueAfterMs: 1_000 } : "gone";
    } catch (error) {
      // The peer has taken our rights: whatever is left there is its own to clean up.
      if (isForbidden(error)) return "gone";
      throw error;
    }
  }

  private async deleteUnseen(kind: Kind<Replicable>, name: string): Promise<Outcome | "gone"> {
    const { remote, route } = this.options;
    try {
      const copy = await remote.get(kind, { name, namespace: route.remoteNamespace });
      if (copy === undefined || !this.isOurs(copy)) return "gone";
      if (!copy.metadata.deletionTimestamp)
        await remote.delete(kind, copy.metadata, { uid: copy.metadata.uid });
      return { requeueAfterMs: 1_000 };
    } catch (error) {
      if (isForbidden(error)) return "gone";
      throw error;
    }
  }

  private isOurs({ metadata }: Replicable): boolean {
    return (
      metadata.labels?.[Label.replicationOrigin] === this.options.route.localClusterId &&
      metadata.labels[Label.replicated] === LabelValue.true
    );
  }

  private async hold(kind: Kind<Replicable>, source: Replicable): Promise<Replicable> {
    const { metadata } = source;
    return await this.options.local.patch(
      kind,
      metadata,
      {
        metadata: {
          uid: metadata.uid,
          resourceVersion: metadata.resourceVersion,
          finalizers: [...(metadata.finalizers ?? []), Finalizer.replicatedResource],
        },
      },
      { type: "merge" },
    );
  }

  private async release(kind: Kind<Replicable>, source: Replicable): Promise<void> {
    await releaseSource(this.options.local, kind, source);
  }

  private noteSpec(key: string, source: Replicable, copy: Replicable): void {
    if (semanticallyEqual(source.spec, copy.spec)) this.settled.delete(key);
    else {
      const { uid } = copy.metadata;
      this.settled.set(key, { uid, generation: source.metadata.generation, spec: copy.spec });
    }
  }

  private isSettled(
    key: string,
    source: Replicable | undefined,
    copy: Replicable | "unknown" | undefined,
  ): boolean {
    const settled = this.settled.get(key);
    if (settled === undefined || source === undefined || copy === undefined || copy === "unknown")
      return false;
    return (
      settled.uid === copy.metadata.uid &&
      settled.generation === source.metadata.generation &&
      semanticallyEqual(settled.spec, copy.spec)
    );
  }

  private source({ kind, name }: { kind: Kind<Replicable>; name: string }): Replicable | undefined {
    const found = this.sourcesOf(kind).get(name, this.options.localNamespace);
    return found !== undefined && isSource(found, this.options.route.remoteClusterId) ? found : undefined;
  }

  private ownSources(kind: Kind<Replicable>): Replicable[] {
    const { localNamespace, route } = this.options;
    return this.sourcesOf(kind)
      .list()
      .filter(
        (object) => object.metadata.namespace === localNamespace && isSource(object, route.remoteClusterId),
      );
  }

  private sourcesOf(kind: Kind<Replicable>): Informer<Replicable> {
    return existing(this.options.sources.get(kind.plural), kind);
  }

  private copiesOf(kind: Kind<Replicable>): Informer<Replicable> {
    return existing(this.copies.get(kind.plural), kind);
  }
}

function existing<T>(value: T | undefined, kind: Kind<Replicable>): T {
  if (value === undefined) throw new Error(`${kind.plural} are not watched`);
  return value;
}

/** Lets a source go: removes the replicator's finalizer, if it is there. */
export async function releaseSource(
  client: KubeClient,
  kind: Kind<Replicable>,
  { metadata }: Replicable,
): Promise<void> {
  const finalizers = metadata.finalizers ?? [];
  if (!finalizers.includes(Finalizer.replicatedResource)) return;
  await unlessGone(
    client.patch(
      kind,
      metadata,
      {
        metadata: {
          uid: metadata.uid,
          resourceVersion: metadata.resourceVersion,
          finalizers: finalizers.filter((name) => name !== Finalizer.replicatedResource),
        },
      },
      { type: "merge" },
    ),
  );
}

/** A write to an object that has gone meanwhile is no longer wanted. */
async function unlessGone(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
