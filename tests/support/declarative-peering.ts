/**
 * A peering by declared objects alone, its steps taken in any order. What comes of them is read from watches: hundreds of orders would
 * otherwise cost the API servers more in looks than in work.
 */
import {
  Identity,
  Label,
  Namespace,
  NamespaceMap,
  NamespaceOffloading,
  Quota,
  ResourceSlice,
  RoleBinding,
  Secret,
  Tenant,
  VirtualNode,
} from "../../runtime/api";
import type { Desired, Kind, KubeObject } from "../../runtime/api";
import { resourceSliceUser } from "../../runtime/identity";
import { type Informer, InformerSet } from "../../runtime/kube";
import type { PeeringSides } from "../../runtime/plan/peering";
import type { ManagedCluster } from "./managed-cluster";
import { PeeringSteps } from "./peering-steps";
import { until } from "./until";

/** The objects of the declarative guide, one a step; the labels of each tenant namespace are a step, too. */
export const PEERING = ["home", "guests", "binding", "tenant", "secret", "slice"] as const;
export const OFFLOADING = "offloading";
export type Step = (typeof PEERING)[number] | typeof OFFLOADING;

const SLICE = "pool";
const OFFLOADED = { name: "offloading", namespace: "shop" };
/** The end state comes in well under a second; a busy machine has this long. */
const LOOK = { timeoutMs: 40_000, everyMs: 5 };

/** The credentials that the consumer was given by hand. */
export interface Credentials {
  user: string;
  kubeconfig: string;
}

export class DeclarativePeering {
  readonly steps: PeeringSteps;
  readonly take: Record<Step, () => Promise<unknown>>;
  private readonly atConsumer: Watched;
  private readonly atProvider: Watched;
  private readonly quota: string;

  constructor(
    readonly consumer: ManagedCluster,
    readonly provider: ManagedCluster,
    readonly sides: PeeringSides,
    readonly credentials: Credentials,
  ) {
    const { tenantNamespace: home } = sides.consumer;
    const { tenantNamespace: guests } = sides.provider;
    this.steps = new PeeringSteps(consumer, provider, sides, SLICE);
    this.atConsumer = new Watched(consumer, home);
    this.atProvider = new Watched(provider, guests);
    this.quota = resourceSliceUser(SLICE, sides.consumer.clusterId);
    this.take = {
      home: () => this.label(consumer, home, sides.provider.clusterId),
      guests: () => this.label(provider, guests, sides.consumer.clusterId),
      binding: () => this.steps.roleBinding(credentials.user),
      tenant: () => this.steps.tolerantTenant(),
      secret: () => this.steps.handmadeSecret(credentials.kubeconfig),
      slice: () => this.steps.slice(),
      offloading: () => consumer.apply(offloading),
    };
  }

  /** The namespaces, without labels. */
  async prepare(): Promise<void> {
    await this.steps.bareNamespaces();
    await this.consumer.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    await Promise.all([this.atConsumer.whenSynced(), this.atProvider.whenSynced()]);
  }

  async end(): Promise<void> {
    await Promise.all([this.atConsumer.stop(), this.atProvider.stop()]);
  }

  /** Takes the labels from both tenant namespaces, as before the first step. */
  async start(): Promise<void> {
    await this.label(this.consumer, this.sides.consumer.tenantNamespace, null);
    await this.label(this.provider, this.sides.provider.tenantNamespace, null);
  }

  /** Returns when everything is there that the steps are for. */
  async untilWhole(order: readonly Step[]): Promise<void> {
    await until(`the end state of ${order.join(", ")}`, () => this.isWhole(order), LOOK);
  }

  /** What there is, without what each run gives anew: UIDs, times, keys. */
  state(): unknown {
    const { atConsumer, atProvider } = this;
    const slice = atConsumer.slices.get(SLICE, atConsumer.namespace);
    const copy = atProvider.slices.get(SLICE, atProvider.namespace);
    const virtualNode = atConsumer.virtualNodes.get(SLICE, atConsumer.namespace);
    const identity = atConsumer.identities.get(`resourceslice-${SLICE}`, atConsumer.namespace);
    const secret = atConsumer.secrets.get(`kubeconfig-resourceslice-${SLICE}`, atConsumer.namespace);
    return {
      slice: slice && {
        labels: slice.metadata.labels,
        finalizers: slice.metadata.finalizers,
        resources: slice.status?.resources,
        conditions: slice.status?.conditions
          ?.map(({ type, status, reason }) => `${type} ${status} ${reason}`)
          .sort(),
      },
      copy: copy && {
        labels: copy.metadata.labels,
        same: JSON.stringify(copy.spec) === JSON.stringify(slice?.spec),
      },
      virtualNode: virtualNode && { labels: virtualNode.metadata.labels, spec: virtualNode.spec },
      identity: identity && { labels: identity.metadata.labels, type: identity.spec.type },
      secret: secret && { labels: secret.metadata.labels },
      quota: atProvider.quotas.get(this.quota, atProvider.namespace)?.spec,
      map: atProvider.maps.list().map(({ metadata, spec }) => [metadata.labels, spec]),
      offloading: atConsumer.offloadings.get(OFFLOADED.name, OFFLOADED.namespace)?.status?.observedGeneration,
    };
  }

  /** Removes everything but the labels, which must be there: controllers clean up where they know whom a namespace is for. */
  async clear(): Promise<void> {
    const { atConsumer, atProvider } = this;
    await atConsumer.remove(NamespaceOffloading, atConsumer.offloadings);
    await atConsumer.remove(ResourceSlice, atConsumer.slices);
    await Promise.all([
      atConsumer.remove(Identity, atConsumer.identities),
      atConsumer.remove(Secret, atConsumer.secrets),
      atConsumer.gone(atConsumer.virtualNodes),
      atConsumer.gone(atConsumer.maps),
      atProvider.gone(atProvider.maps),
      atProvider.remove(Tenant, atProvider.tenants),
      atProvider.remove(ResourceSlice, atProvider.slices),
      // The garbage collector's, which learns of new kinds every half a minute only.
      atProvider.remove(Quota, atProvider.quotas),
      atProvider.remove(Secret, atProvider.secrets),
    ]);
    await atProvider.remove(RoleBinding, atProvider.bindings);
  }

  /** Its parts, in the order in which they matter to whoever reads a failure. */
  private isWhole(order: readonly Step[]): boolean {
    const { atConsumer, atProvider } = this;
    const { conditions } = atConsumer.slices.get(SLICE, atConsumer.namespace)?.status ?? {};
    if (conditions?.length !== 2 || conditions.some(({ status }) => status !== "Accepted")) return false;
    const [map] = atProvider.maps.list();
    const mapped =
      map !== undefined && (!order.includes(OFFLOADING) || map.spec.desiredMapping?.shop !== undefined);
    return (
      mapped &&
      atConsumer.virtualNodes.get(SLICE, atConsumer.namespace) !== undefined &&
      atProvider.quotas.get(this.quota, atProvider.namespace) !== undefined
    );
  }

  private async label(cluster: ManagedCluster, name: string, peer: string | null): Promise<void> {
    const labels = { [Label.tenantNamespace]: peer && "true", [Label.remoteClusterID]: peer };
    await cluster.admin.patch(Namespace, { name }, { metadata: { labels } }, { type: "merge" });
  }
}

const offloading: Desired<KubeObject> & { spec: object } = {
  apiVersion: "offloading.liqo.io/v1beta1",
  kind: "NamespaceOffloading",
  metadata: OFFLOADED,
  spec: { podOffloadingStrategy: "LocalAndRemote", namespaceMappingStrategy: "DefaultName" },
};

/** What is watched of a cluster: the objects of a peering in its tenant namespace. */
class Watched {
  private readonly informers: InformerSet;
  readonly slices: Informer<ResourceSlice>;
  readonly identities: Informer<Identity>;
  readonly secrets: Informer<Secret>;
  readonly tenants: Informer<Tenant>;
  readonly bindings: Informer<RoleBinding>;
  readonly virtualNodes: Informer<VirtualNode>;
  readonly maps: Informer<NamespaceMap>;
  readonly quotas: Informer<Quota>;
  readonly offloadings: Informer<NamespaceOffloading>;

  constructor(
    private readonly cluster: ManagedCluster,
    readonly namespace: string,
  ) {
    this.informers = new InformerSet(cluster.admin);
    const here = <T extends KubeObject>(kind: Kind<T>) => this.informers.informer(kind, { namespace });
    this.slices = here(ResourceSlice);
    this.identities = here(Identity);
    this.secrets = here(Secret);
    this.tenants = here(Tenant);
    this.bindings = here(RoleBinding);
    this.virtualNodes = here(VirtualNode);
    this.maps = here(NamespaceMap);
    this.quotas = here(Quota);
    this.offloadings = this.informers.informer(NamespaceOffloading);
  }

  async whenSynced(): Promise<void> {
    await this.informers.whenSynced();
  }

  async stop(): Promise<void> {
    await this.informers.stop();
  }

  /** Deletes everything of a kind, also what is made meanwhile; returns when nothing is left. */
  async remove<T extends KubeObject>(kind: Kind<T>, informer: Informer<T>): Promise<void> {
    await until(
      `${kind.plural} of ${this.cluster.clusterId} gone`,
      async () => {
        for (const { metadata } of informer.list())
          if (!metadata.deletionTimestamp) await this.cluster.admin.delete(kind, metadata);
        return informer.list().length === 0;
      },
      LOOK,
    );
  }

  async gone<T extends KubeObject>(informer: Informer<T>): Promise<void> {
    await until(`nothing left of ${this.cluster.clusterId}`, () => informer.list().length === 0, LOOK);
  }
}
