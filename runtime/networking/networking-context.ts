import type { Desired, FirewallConfiguration, Kind, KubeObject, ObjectRef, RouteConfiguration } from "../api";
import {
  type GlobalMetadata,
  type Informer,
  keyOf,
  keyOfRef,
  type KubeClient,
  type RuntimeContext,
  withGlobalMetadata,
  writeIfChanged,
  type Written,
} from "../kube";
import type { NetworkingCaches } from "./caches";

/** What the networking controllers are told by the flags of their process. */
export interface NetworkingOptions {
  /** Where the installation is. */
  liqoNamespace: string;
  /** Pods, too, reach peers with the address of unknown senders. */
  fullMasquerade: boolean;
  /** Of the rules on nodes that lead to gateways; 0 lets the kernel choose. Some CNIs have rules of their own that must come later. */
  fabricRulePriority: number;
  /** Keeps the CNI from masquerading what gateways send to nodes over the overlay. */
  gatewayMasqueradeBypass: boolean;
  /** UDP port of the overlay. */
  genevePort: number;
  /** Longest TCP segment in tunnels, in bytes; 0 takes the path's, undefined leaves it to the ends. */
  segmentSizeClamp: number | undefined;
  /** Leaves packets of the overlay out of connection tracking. */
  overlayWithoutTracking: boolean;
  /** How peers reach this cluster's API server: by the address of its Service, or by those of its endpoints. */
  apiServerBy: "service" | "endpoints";
  /** Whether peers reach this cluster's API server proxy. */
  exportProxy: boolean;
  /** Role of the accounts that gateways run as. */
  gatewayClusterRole: string;
  /** Whether there are pods that run at peers. */
  offloadingEnabled: boolean;
  global: GlobalMetadata;
}

/** What each of the networking controllers is given. */
export interface NetworkingContext {
  runtime: RuntimeContext;
  options: NetworkingOptions;
  caches: NetworkingCaches;
  firewalls: ObjectWriter<FirewallConfiguration>;
  routes: ObjectWriter<RouteConfiguration>;
}

type Named<T extends KubeObject> = Desired<T> & { metadata: { name: string; namespace?: string } };

/** Writes objects of a kind whose spec is all ours: what is not desired is not there. */
export class ObjectWriter<T extends KubeObject> {
  constructor(
    private readonly client: KubeClient,
    private readonly kind: Kind<T>,
    private readonly observed: Informer<T>,
    private readonly global: GlobalMetadata,
  ) {}

  async ensure(desired: Named<T>): Promise<Written<T>> {
    const { name, namespace } = desired.metadata;
    return await writeIfChanged(
      this.client,
      this.kind,
      withGlobalMetadata(desired, this.global),
      this.observed.get(name, namespace),
      // Nobody else writes the spec, and agents write the status all the time.
      { exact: ["spec"], lock: "never" },
    );
  }

  /** Removes an object if it is there. */
  async remove(ref: ObjectRef): Promise<void> {
    const object = this.observed.get(ref.name, ref.namespace);
    if (object === undefined || object.metadata.deletionTimestamp) return;
    await this.client.delete(this.kind, object.metadata, { uid: object.metadata.uid });
  }

  /** Makes the objects that there are among `candidates` those that are desired. */
  async ensureOnly(desired: readonly Named<T>[], candidates: readonly ObjectRef[]): Promise<void> {
    const wanted = new Set(desired.map(({ metadata }) => keyOfRef(metadata)));
    for (const object of desired) await this.ensure(object);
    for (const candidate of candidates) if (!wanted.has(keyOfRef(candidate))) await this.remove(candidate);
  }

  /** The observed object of a key. */
  observedOf(object: KubeObject): T | undefined {
    return this.observed.getByKey(keyOf(object));
  }
}
