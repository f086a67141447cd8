import { EventReason, type Kind, Label, LabelValue } from "../api";
import {
  backoffMs,
  type EventRecorder,
  isAlreadyExists,
  isForbidden,
  type KubeClient,
  type Logger,
  semanticallyEqual,
} from "../kube";
import { copyMetadata, type Decision, type Replicable, replicaKey, type Route } from "./copy";
import type { CopyWrite } from "./replication-metrics";

/** What is seen of one name at the peer; "unknown" while its objects have not been listed. */
export type SeenCopy = Replicable | "unknown" | undefined;

/** What came of an action. */
interface Settled {
  /** `gone`: the copy turns out not to be there. `refused`: there is none, and the peer lets us make none. */
  copy?: "gone" | "refused";
  /** When to look again, in milliseconds. */
  requeueAfterMs?: number;
}

interface PeerCopiesOptions {
  route: Route;
  remote: KubeClient;
  events: EventRecorder | undefined;
  /** Milliseconds that only grow. */
  monotonic: () => number;
  /** Something was written at the peer. */
  wrote: (kind: Kind<Replicable>, write: CopyWrite) => void;
}

/** Writes the copies at one peer, and knows what came of it. */
export class PeerCopies {
  private readonly recreation: Recreation;
  /** Copies whose spec reads differently at the peer than we wrote it, because its API has other defaults or fields. */
  private readonly settled = new Map<string, { uid?: string; generation?: number; spec: unknown }>();

  constructor(private readonly options: PeerCopiesOptions) {
    this.recreation = new Recreation(options.monotonic);
  }

  async settle(
    action: Decision["copy"],
    kind: Kind<Replicable>,
    source: Replicable | undefined,
    copy: SeenCopy,
    log: Logger,
  ): Promise<Settled> {
    const seen = copy === "unknown" ? undefined : copy;
    switch (action) {
      case "keep":
      case "wait":
        return {};
      case "create":
        return source === undefined ? {} : await this.create(kind, source, log);
      case "update": {
        if (source === undefined || seen === undefined) return {};
        const { remote, wrote } = this.options;
        this.noteSpec(kind, source, await remote.replace(kind, { ...seen, spec: source.spec }));
        wrote(kind, "update");
        return {};
      }
      case "delete":
        return seen === undefined ? {} : await this.delete(kind, seen);
      case "delete-unseen":
        return source === undefined ? {} : await this.deleteUnseen(kind, source.metadata.name);
    }
  }

  /** Whether the copy holds what the peer made of this very spec, though it reads differently. */
  isSettled(kind: Kind<Replicable>, source: Replicable | undefined, copy: SeenCopy): boolean {
    if (source === undefined || copy === undefined || copy === "unknown") return false;
    const settled = this.settled.get(replicaKey(kind, source.metadata.name));
    return (
      settled !== undefined &&
      settled.uid === copy.metadata.uid &&
      settled.generation === source.metadata.generation &&
      semanticallyEqual(settled.spec, copy.spec)
    );
  }

  /** The source of a key is gone. */
  forget(key: string): void {
    this.settled.delete(key);
    this.recreation.forget(key);
  }

  private async create(kind: Kind<Replicable>, source: Replicable, log: Logger): Promise<Settled> {
    const key = replicaKey(kind, source.metadata.name);
    const requeueAfterMs = this.recreation.delayMs(key);
    if (requeueAfterMs > 0) return { requeueAfterMs };
    const { remote, route, events, wrote } = this.options;
    this.recreation.attempted(key);
    try {
      const copy = await remote.create(kind, {
        apiVersion: kind.apiVersion,
        kind: kind.kind,
        metadata: copyMetadata(source, route),
        spec: source.spec,
      });
      this.noteSpec(kind, source, copy);
      wrote(kind, "create");
      return {};
    } catch (error) {
      if (isForbidden(error)) {
        // Drained, or not bound yet: nobody tells us when that changes, so ask again.
        this.recreation.forbidden(key);
        log.info("the peer does not let us make a copy", { kind: kind.kind, error });
        events?.warning(source, EventReason.replicationForbidden, error.message);
        return { copy: "refused", requeueAfterMs: Math.max(1_000, this.recreation.delayMs(key)) };
      }
      if (isAlreadyExists(error)) return await this.meetNamesake(kind, source);
      throw error;
    }
  }

  /** A copy that our watch has not told of yet, or somebody else's object, which is left alone. */
  private async meetNamesake(kind: Kind<Replicable>, source: Replicable): Promise<Settled> {
    const { remote, route, events } = this.options;
    const ref = { name: source.metadata.name, namespace: route.remoteNamespace };
    const found = await remote.get(kind, ref);
    if (found === undefined || this.isOurs(found)) return { requeueAfterMs: 1_000 };
    events?.warning(
      source,
      EventReason.replicationConflict,
      `${kind.kind} "${ref.namespace}/${ref.name}" of cluster "${route.remoteClusterId}" is not a copy of this object; remove it, or choose another name`,
    );
    return { requeueAfterMs: 30_000 };
  }

  private async delete(kind: Kind<Replicable>, copy: Replicable): Promise<Settled> {
    const { remote, wrote } = this.options;
    try {
      const existed = await remote.delete(kind, copy.metadata, { uid: copy.metadata.uid });
      if (existed) wrote(kind, "delete");
      // The watch tells when it is gone; should that be down, asking again does.
      return existed ? { requeueAfterMs: 1_000 } : { copy: "gone" };
    } catch (error) {
      // The peer has taken our rights: whatever is left there is its own to clean up.
      if (isForbidden(error)) return { copy: "gone" };
      throw error;
    }
  }

  private async deleteUnseen(kind: Kind<Replicable>, name: string): Promise<Settled> {
    const { remote, route, wrote } = this.options;
    try {
      const copy = await remote.get(kind, { name, namespace: route.remoteNamespace });
      if (copy === undefined || !this.isOurs(copy)) return { copy: "gone" };
      if (!copy.metadata.deletionTimestamp) {
        await remote.delete(kind, copy.metadata, { uid: copy.metadata.uid });
        wrote(kind, "delete");
      }
      return { requeueAfterMs: 1_000 };
    } catch (error) {
      if (isForbidden(error)) return { copy: "gone" };
      throw error;
    }
  }

  private isOurs({ metadata }: Replicable): boolean {
    return (
      metadata.labels?.[Label.replicationOrigin] === this.options.route.localClusterId &&
      metadata.labels[Label.replicated] === LabelValue.true
    );
  }

  private noteSpec(kind: Kind<Replicable>, source: Replicable, copy: Replicable): void {
    const key = replicaKey(kind, source.metadata.name);
    if (semanticallyEqual(source.spec, copy.spec)) this.settled.delete(key);
    else {
      const { uid } = copy.metadata;
      this.settled.set(key, { uid, generation: source.metadata.generation, spec: copy.spec });
    }
  }
}

/** A copy that went away sooner than this after we made it counts as refused. */
const settledAfterMs = 60_000;
const longestMs = 30_000;
const longestForbiddenMs = 5_000;

/** Holds back the making of copies that the peer removes or forbids time and again, so that the two sides do not spin. */
export class Recreation {
  private readonly refused = new Map<string, { times: number; at: number; mostMs: number }>();

  /** @param monotonic milliseconds that only grow */
  constructor(private readonly monotonic: () => number) {}

  /** How long to wait before a copy may be made (again); 0 for now. */
  delayMs(key: string): number {
    const known = this.refused.get(key);
    if (known === undefined) return 0;
    const elapsed = this.monotonic() - known.at;
    if (elapsed > settledAfterMs) {
      this.refused.delete(key);
      return 0;
    }
    // The second copy follows the first at once: somebody may have removed that by hand.
    if (known.times < 2) return 0;
    const delay = backoffMs(known.times - 1, { firstMs: 1_000, maxMs: known.mostMs, random: () => 0 });
    return Math.max(0, delay - elapsed);
  }

  /** A copy is about to be made. */
  attempted(key: string): void {
    const times = (this.refused.get(key)?.times ?? 0) + 1;
    this.refused.set(key, { times, at: this.monotonic(), mostMs: longestMs });
  }

  /** It was forbidden: nothing was made that would have to be removed, so asking again costs little. */
  forbidden(key: string): void {
    const known = this.refused.get(key);
    if (known !== undefined) known.mostMs = longestForbiddenMs;
  }

  forget(key: string): void {
    this.refused.delete(key);
  }
}
