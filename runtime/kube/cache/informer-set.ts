import { Counter, type Registry } from "prom-client";

import type { Kind, KubeObject } from "../../api/meta";
import type { KubeClient } from "../client/client";
import type { ListOptions } from "../client/client-options";
import { type Clock, systemClock } from "../clock";
import { type Logger, silentLogger } from "../log";
import { Informer, SharedCache } from "./informer";

/** What of a kind is watched, and what of each object is kept. */
export interface Selection<T> extends ListOptions {
  /**
   * Keeps less of each object: memory is what a cache costs. Managed fields are never kept. Must keep `apiVersion`, `kind` and `metadata`, and must be
   * the same function for a watch to be shared.
   */
  project?: (object: T) => T;
}

interface InformerSetOptions {
  /** Default: none. */
  log?: Logger;
  clock?: Clock;
  /** Where `liqo_kube_watch_restarts_total` is counted, by kind and reason. */
  metrics?: Registry;
}

interface Shared<T extends KubeObject> {
  cache: SharedCache<T>;
  users: number;
}

/** The watches of one cluster: everybody who asks for the same kind and selection shares one. */
export class InformerSet {
  private readonly shared = new Map<string, Shared<KubeObject>>();
  private readonly projections = new Map<unknown, number>();
  private readonly restarts: Counter | undefined;
  private stopped = false;

  constructor(
    readonly client: KubeClient,
    private readonly options: InformerSetOptions = {},
  ) {
    this.restarts = options.metrics === undefined ? undefined : restartCounter(options.metrics);
  }

  /** Starts the watch if nobody has; give it back with `release`. */
  informer<T extends KubeObject>(kind: Kind<T>, selection: Selection<T> = {}): Informer<T> {
    if (this.stopped) throw new Error(`cannot watch ${kind.plural}: the informers were stopped`);
    const key = this.sharingKey(kind, selection);
    // The key begins with the kind, so what stands under it holds that kind's type.
    let shared = this.shared.get(key) as unknown as Shared<T> | undefined;
    if (shared === undefined) {
      shared = { cache: this.start(kind, selection), users: 0 };
      this.shared.set(key, shared as unknown as Shared<KubeObject>);
    }
    const taken = shared;
    taken.users += 1;
    return new Informer(taken.cache, () => {
      taken.users -= 1;
      if (taken.users > 0) return;
      this.shared.delete(key);
      void taken.cache.stop();
    });
  }

  /** Resolves when everything asked for so far has synced. */
  async whenSynced(): Promise<void> {
    await Promise.all([...this.shared.values()].map(({ cache }) => cache.whenSynced()));
  }

  /** One sentence for each watch that is down or has not synced, for readiness. */
  problems(): string[] {
    return [...this.shared.values()].flatMap(({ cache }) =>
      cache.problem !== undefined ? [cache.problem] : cache.synced ? [] : [`${cache.what} has not synced`],
    );
  }

  async stop(): Promise<void> {
    this.stopped = true;
    const caches = [...this.shared.values()].map(({ cache }) => cache);
    this.shared.clear();
    await Promise.all(caches.map((cache) => cache.stop()));
  }

  private start<T extends KubeObject>(kind: Kind<T>, selection: Selection<T>): SharedCache<T> {
    const { namespace, labelSelector, fieldSelector, project } = selection;
    return new SharedCache({
      client: this.client,
      kind,
      selection: { namespace, labelSelector, fieldSelector },
      project: project ?? ((object) => object),
      clock: this.options.clock ?? systemClock,
      log: this.options.log ?? silentLogger,
      onRestart: (reason) => this.restarts?.inc({ kind: kind.kind, reason }),
    });
  }

  private sharingKey<T extends KubeObject>(kind: Kind<T>, selection: Selection<T>): string {
    const { project } = selection;
    let projection = 0;
    if (project !== undefined) {
      projection = this.projections.get(project) ?? this.projections.size + 1;
      this.projections.set(project, projection);
    }
    const { namespace = "", labelSelector = "", fieldSelector = "" } = selection;
    return [kind.apiVersion, kind.kind, namespace, labelSelector, fieldSelector, projection].join("\n");
  }
}

function restartCounter(metrics: Registry): Counter {
  const name = "liqo_kube_watch_restarts_total";
  const existing = metrics.getSingleMetric(name);
  if (existing instanceof Counter) return existing;
  return new Counter({
    name,
    help: "Watches that began anew, by kind and reason",
    labelNames: ["kind", "reason"],
    registers: [metrics],
  });
}
