import { EventReason, type Kind, NamespaceMap } from "../api";
import { isRecord } from "../api/invalid-object";
import {
  type Controller,
  type ControllerContext,
  type Informer,
  InformerSet,
  isForbidden,
  type KubeClient,
  type Outcome,
  patchStatusIfChanged,
  type ReconcileRun,
  runController,
  type Source,
  watches,
} from "../kube";
import { copySelector, isSource } from "../plan/peer-objects";
import { readAnswer } from "./answer";
import {
  decide,
  type Decision,
  readReplicaKey,
  type Replicable,
  replicaKey,
  replicatedKinds,
  type Route,
} from "./copy";
import { MappingGuard } from "./mapping-guard";
import { PeerCopies, type SeenCopy } from "./peer-copies";
import { RefusedAnswers } from "./refused-answers";
import type { PeerLag } from "./replication-metrics";
import { holdSource, isDisowned, releaseSource, unlessGone } from "./sources";

/** While the peer's objects are not listed: whether that is because it forbids it. */
const LOOK_AGAIN_MS = 5_000;
/** API servers that start forbid everything for a moment. */
const DENIED_MS = 30_000;

/** Of a source whose peer's objects are not listed. */
interface Unseen {
  requeueAfterMs: number;
  /** Whether the peer has forbidden it for so long that it is meant. */
  isDenied: boolean;
}

interface PeerReplicatorOptions {
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
  /** Told of what waits and what was written. */
  lag: PeerLag;
}

/** Replicates the objects for one peer, from the moment it is made until it is stopped (control plane reference 11.3, 11.4). */
export class PeerReplicator {
  private readonly informers: InformerSet;
  private readonly copies: PeerCopies;
  private readonly mappings: MappingGuard;
  private readonly refusals: RefusedAnswers;
  private readonly copyInformers: Map<string, Informer<Replicable>>;
  private readonly controller: Controller;
  /** Since when the peer forbids to list its objects of a kind, by plural, on the monotonic clock. */
  private readonly forbiddenSince = new Map<string, number>();

  constructor(
    private readonly options: PeerReplicatorOptions,
    private readonly context: ControllerContext,
  ) {
    const { remote, route } = options;
    const log = context.log.child({ peer: route.remoteClusterId });
    this.copies = new PeerCopies({
      route,
      remote,
      events: context.events,
      monotonic: () => context.clock.monotonic(),
      wrote: options.lag.wrote,
    });
    this.mappings = new MappingGuard({
      local: options.local,
      remoteClusterId: route.remoteClusterId,
      events: context.events,
      monotonic: () => context.clock.monotonic(),
    });
    this.refusals = new RefusedAnswers({
      remoteClusterId: route.remoteClusterId,
      events: context.events,
      monotonic: () => context.clock.monotonic(),
    });
    this.informers = new InformerSet(remote, { log, clock: context.clock, metrics: context.metrics });
    this.copyInformers = new Map(
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
        name: "crdreplicator",
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

  /** The sources for this peer that are left in its namespace. */
  get leftSources(): Replicable[] {
    return replicatedKinds.flatMap((kind) => this.ownSources(kind));
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
    this.options.lag.end();
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
        return concerned.some((object) => isSource(object, route.remoteClusterId) || isDisowned(object));
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
    const { local, lag } = this.options;
    const observed = this.source({ kind, name });
    const informer = this.copiesOf(kind);
    const copy = informer.synced ? informer.get(name, this.options.route.remoteNamespace) : "unknown";
    const { source, againAfterMs } = await this.guarded(kind, observed, copy);
    const answered = this.answered(kind, source, copy);
    const decision = decide({
      source,
      copy: answered.copy,
      peerDead: this.options.isDead(),
      specSettled: this.copies.isSettled(kind, source, copy),
    });
    const pullStatus = answered.usable ? decision.pullStatus : undefined;
    if (decision.copy !== "keep" || pullStatus !== undefined) lag.differs(key);
    let held = source;
    if (decision.addFinalizer && source !== undefined)
      held = { ...(await holdSource(local, kind, source)), spec: source.spec };
    const settled = await this.copies.settle(decision.copy, kind, held, copy, run.log);
    const unseen = this.whileUnseen(decision, kind, source);
    const isDenied = settled.copy === "refused" || unseen?.isDenied === true;
    const status = isDenied ? withoutAnswer(kind, held) : pullStatus;
    if (status !== undefined && held !== undefined) {
      const whole = { exact: [""], foreign: true };
      await unlessGone(patchStatusIfChanged(local, kind, held, status, whole));
      lag.wrote(kind, "status");
    }
    if ((decision.removeFinalizer || settled.copy === "gone") && held !== undefined)
      await releaseSource(local, kind, held);
    if (source === undefined) {
      this.copies.forget(key);
      this.refusals.forget(key);
      if (copy === undefined || settled.copy === "gone") await this.releaseDisowned(kind, name);
    }
    const requeueAfterMs = againAfterMs ?? unseen?.requeueAfterMs ?? settled.requeueAfterMs;
    const isGone = source === undefined || (requeueAfterMs === undefined && settled.copy === "gone");
    this.tellLag(key, { ...decision, pullStatus }, isGone, requeueAfterMs !== undefined);
    return requeueAfterMs === undefined ? answered.again : { requeueAfterMs };
  }

  /** The copy with what its peer may say in the status. What was refused is told, and the source keeps what it has of that. */
  private answered(
    kind: Kind<Replicable>,
    source: Replicable | undefined,
    copy: SeenCopy,
  ): { copy: SeenCopy; usable: boolean; again?: Outcome } {
    if (source === undefined || copy === undefined || copy === "unknown") return { copy, usable: true };
    const answer = readAnswer(kind, source, copy);
    const again = this.refusals.note(replicaKey(kind, source.metadata.name), source, answer);
    return { copy: { ...copy, status: answer.status }, usable: answer.status !== undefined, again };
  }

  /** Nothing can be copied before the peer's objects are listed; where it forbids that, the source tells. */
  private whileUnseen(
    { copy }: Decision,
    kind: Kind<Replicable>,
    source: Replicable | undefined,
  ): Unseen | undefined {
    const { forbidden, problem } = this.copiesOf(kind);
    if (!forbidden) this.forbiddenSince.delete(kind.plural);
    if (copy !== "wait" || source === undefined || this.options.isDead()) return undefined;
    if (!forbidden) return { requeueAfterMs: LOOK_AGAIN_MS, isDenied: false };
    const now = this.context.clock.monotonic();
    const since = this.forbiddenSince.get(kind.plural) ?? now;
    this.forbiddenSince.set(kind.plural, since);
    this.context.events?.warning(source, EventReason.replicationForbidden, problem ?? "it may not be listed");
    return { requeueAfterMs: LOOK_AGAIN_MS, isDenied: now - since >= DENIED_MS };
  }

  private async guarded(
    kind: Kind<Replicable>,
    source: Replicable | undefined,
    copy: SeenCopy,
  ): Promise<{ source: Replicable | undefined; againAfterMs: number | undefined }> {
    if (source === undefined) return { source, againAfterMs: undefined };
    return await this.mappings.guard(kind, source, copy === "unknown" ? undefined : copy);
  }

  /** What was a source and has lost the labels of one is held no more than its copy is there. */
  private async releaseDisowned(kind: Kind<Replicable>, name: string): Promise<void> {
    const object = this.sourcesOf(kind).get(name, this.options.localNamespace);
    if (object !== undefined && isDisowned(object)) await releaseSource(this.options.local, kind, object);
  }

  private tellLag(key: string, decision: Decision, isGone: boolean, isAgain: boolean): void {
    const { lag } = this.options;
    if (isGone) lag.forget(key);
    // To be tried again, or to be looked at when the peer answers.
    else if (isAgain || decision.copy === "wait") return;
    else lag.settled(key, decision.copy === "keep" && decision.pullStatus !== undefined ? "status" : "spec");
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
    return existing(this.copyInformers.get(kind.plural), kind);
  }
}

/** Without an answer of the peer no namespace is mapped, whatever it said before; what a slice was granted stays its own. */
function withoutAnswer(
  kind: Kind<Replicable>,
  source: Replicable | undefined,
): Record<string, never> | undefined {
  if (kind.kind !== NamespaceMap.kind || !isRecord(source?.status)) return undefined;
  return Object.keys(source.status).length === 0 ? undefined : {};
}

function existing<T>(value: T | undefined, kind: Kind<Replicable>): T {
  if (value === undefined) throw new Error(`${kind.plural} are not watched`);
  return value;
}
