import { Counter, type Registry } from "prom-client";

import { EventReason } from "../../api/keys";
import type { KubeObject } from "../../api/meta";
import {
  type Clock,
  EventRecorder,
  isForbidden,
  type KubeClient,
  type Logger,
  messageOf,
  type Outcome,
  refOfKey,
} from "../../kube";
import type { ReflectedResource } from "../../plan/reflected-resources";

interface Options {
  client: KubeClient;
  clock: Clock;
  log: Logger;
  metrics: Registry;
  /** Whether successes become events too. */
  eventOnSuccess: boolean;
}

const LABELS = ["namespace", "reflector_resource", "cluster_id", "node_name"] as const;

/** Reports what is reflected: counters and events of the local objects (offloading reference 18, 1.4). */
export class ReflectionReports {
  private readonly items: Counter<(typeof LABELS)[number]>;
  private readonly errors: Counter<(typeof LABELS)[number]>;
  private readonly recorders = new Map<ReflectedResource, EventRecorder>();

  constructor(private readonly options: Options) {
    const registers = [options.metrics];
    this.items = new Counter({
      name: "liqo_virtual_kubelet_reflection_item_counter",
      help: "Objects handled by the reflectors",
      labelNames: LABELS,
      registers,
    });
    this.errors = new Counter({
      name: "liqo_virtual_kubelet_reflection_error_counter",
      help: "Errors of the reflectors",
      labelNames: LABELS,
      registers,
    });
  }

  /** @param nodeName read when something is counted: what is bound to no node is counted with the node that does it */
  of(resource: ReflectedResource, clusterId: string, nodeName: () => string): ReflectionReport {
    const count = (counter: Counter<(typeof LABELS)[number]>, key: string) =>
      counter.inc({
        namespace: refOfKey(key).namespace ?? "",
        reflector_resource: resource,
        cluster_id: clusterId,
        node_name: nodeName(),
      });
    return new ReflectionReport(
      clusterId,
      this.recorder(resource),
      this.options.eventOnSuccess,
      new RefusalGracePeriod(() => this.options.clock.monotonic()),
      (key) => count(this.items, key),
      (key) => count(this.errors, key),
    );
  }

  private recorder(resource: ReflectedResource): EventRecorder {
    let recorder = this.recorders.get(resource);
    if (recorder === undefined) {
      const { client, clock, log } = this.options;
      recorder = new EventRecorder({
        client,
        clock,
        log,
        component: `liqo-${resource.toLowerCase()}-reflection`,
      });
      this.recorders.set(resource, recorder);
    }
    return recorder;
  }
}

/** Reports what one controller does with one provider. */
export class ReflectionReport {
  constructor(
    private readonly clusterId: string,
    private readonly recorder: EventRecorder,
    private readonly eventOnSuccess: boolean,
    private readonly refusals: RefusalGracePeriod,
    private readonly countItem: (key: string) => void,
    private readonly countError: (key: string) => void,
  ) {}

  /** Counts the outcome of a reconcile. */
  async counting(key: string, reconcile: () => Promise<Outcome>): Promise<Outcome> {
    try {
      const outcome = await reconcile();
      this.countItem(key);
      return outcome;
    } catch (error) {
      this.countError(key);
      throw error;
    }
  }

  succeeded(object: KubeObject): void {
    this.refusedNoMore(object);
    if (!this.eventOnSuccess) return;
    this.recorder.normal(
      object,
      EventReason.successfulReflection,
      `Successfully reflected object to cluster "${this.clusterId}"`,
    );
  }

  refusedNoMore({ metadata }: KubeObject): void {
    this.refusals.over(metadata.uid ?? "");
  }

  /** Reports a failure; a refusal only when it lasts ({@link RefusalGracePeriod}). */
  failed(
    object: KubeObject | undefined,
    error: unknown,
    reason: string = EventReason.failedReflection,
  ): void {
    if (isForbidden(error) && !this.refusals.lasts(object?.metadata.uid ?? "")) return;
    this.warn(object, reason, `Error reflecting object to cluster "${this.clusterId}": ${messageOf(error)}`);
  }

  failedBack(object: KubeObject | undefined, error: unknown): void {
    this.warn(
      object,
      EventReason.failedReflection,
      `Error reflecting object status back from cluster "${this.clusterId}": ${messageOf(error)}`,
    );
  }

  conflict(object: KubeObject | undefined): void {
    this.failed(object, "remote object already exists");
  }

  /** What was written there is undone time and again. */
  undone(object: KubeObject): void {
    this.failed(
      object,
      "somebody there changes the remote object time and again; it is put right ever more slowly, so stop that, or keep the object at home",
    );
  }

  /** Addresses of an object that the other cluster has no way to. */
  unreachable(object: KubeObject, addresses: readonly string[]): void {
    this.failed(
      object,
      `${addresses.join(", ")}: not in a pod network of this cluster, and no IP of the namespace stands for it; make an IP for each`,
    );
  }

  disabled(object: KubeObject, why: string): void {
    if (!this.eventOnSuccess) return;
    this.recorder.normal(
      object,
      EventReason.reflectionDisabled,
      `Reflection to cluster "${this.clusterId}" disabled for ${why}`,
    );
  }

  warn(object: KubeObject | undefined, reason: string, message: string): void {
    if (object !== undefined) this.recorder.warning(object, reason, message);
  }
}

/** How long a refusal goes unreported, in milliseconds: a provider creates namespaces, rights and quotas one after the other. */
export const REFUSAL_GRACE_MS = 3_000;
/** How many objects are remembered; the oldest entry makes room. */
const REMEMBERED = 10_000;

/**
 * Suppresses events of refusals that end within seconds, as while a provider sets a namespace up: read later, they would be misleading. Refusals that
 * last are reported.
 */
export class RefusalGracePeriod {
  /** Since when, by UID of the object, on the monotonic clock. */
  private readonly since = new Map<string, number>();

  constructor(private readonly monotonic: () => number) {}

  /** An object was refused. @returns whether that has lasted long enough to be reported */
  lasts(uid: string): boolean {
    const now = this.monotonic();
    const since = this.since.get(uid);
    if (since !== undefined) return now - since >= REFUSAL_GRACE_MS;
    this.since.set(uid, now);
    if (this.since.size > REMEMBERED) {
      for (const oldest of this.since.keys()) {
        this.since.delete(oldest);
        break;
      }
    }
    return false;
  }

  /** What was asked for was done. */
  over(uid: string): void {
    this.since.delete(uid);
  }
}
