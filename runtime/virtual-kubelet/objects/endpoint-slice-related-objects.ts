import { ForeignCluster, IP, VirtualNode } from "../../api";
import { WellKnownLabel } from "../../api/keys";
import { EndpointSlice, Service } from "../../api/kubernetes";
import type { KubeObject } from "../../api/meta";
import type { Informer, InformerSet } from "../../kube";
import type { RelatedObjects } from "./reflected-kind";

/** What decides on the slices of a namespace beside the slices: their Services, the addresses that peers know, the virtual nodes, and the peer. */
export class SliceRelatedObjects implements RelatedObjects {
  private readonly services: Informer<Service>;
  private readonly ips: Informer<IP>;
  private readonly slices: Informer<EndpointSlice>;
  private readonly virtualNodes: Informer<VirtualNode>;
  private readonly foreignClusters: Informer<ForeignCluster>;

  constructor(
    informers: InformerSet,
    private readonly namespace: string,
    provider: string,
    changed: (sliceName: string) => void,
  ) {
    this.slices = informers.informer(EndpointSlice, { namespace });
    this.services = informers.informer(Service, { namespace });
    this.ips = informers.informer(IP, { namespace });
    this.virtualNodes = informers.informer(VirtualNode);
    this.foreignClusters = informers.informer(ForeignCluster);
    const tell = (slices: readonly EndpointSlice[]) => {
      for (const { metadata } of slices) changed(metadata.name);
    };
    each(this.services, ({ metadata: { name } }) => {
      tell(this.slices.list().filter((slice) => serviceNameOf(slice) === name));
    });
    each(this.ips, ({ spec }) => {
      tell(this.slices.list().filter((slice) => holds(slice, spec.ip)));
    });
    this.virtualNodes.on({
      added: () => tell(this.slices.list()),
      deleted: () => tell(this.slices.list()),
    });
    this.foreignClusters.on({
      added: () => tell(this.slices.list()),
      updated: (before, after) => {
        if (after.spec.clusterID === provider && networking(before) !== networking(after)) {
          tell(this.slices.list());
        }
      },
    });
  }

  get synced(): boolean {
    return this.all.every(({ synced }) => synced);
  }

  async whenSynced(): Promise<void> {
    await Promise.all(this.all.map((informer) => informer.whenSynced()));
  }

  release(): void {
    for (const informer of this.all) informer.release();
  }

  /** The Service that a slice is of; undefined where it is of none, or of one that is gone. */
  serviceOf(slice: EndpointSlice): Service | undefined {
    const name = serviceNameOf(slice);
    return name === undefined ? undefined : this.services.get(name, this.namespace);
  }

  /** The address under which peers know an address of this namespace. */
  mappedAddress(address: string): string | undefined {
    return this.ips.list().find(({ spec, status }) => spec.ip === address && status?.ip)?.status?.ip;
  }

  /** The cluster whose virtual node it is; undefined for a node of this cluster. */
  clusterOf(nodeName: string): string | undefined {
    return this.virtualNodes.list().find(({ metadata }) => metadata.name === nodeName)?.spec.clusterID;
  }

  foreignCluster(clusterId: string): ForeignCluster | undefined {
    return this.foreignClusters.list().find(({ spec }) => spec.clusterID === clusterId);
  }

  private get all(): Pick<Informer<Service>, "synced" | "whenSynced" | "release">[] {
    return [this.services, this.ips, this.slices, this.virtualNodes, this.foreignClusters];
  }
}

function each<T extends KubeObject>(informer: Informer<T>, tell: (object: T) => void): void {
  informer.on({ added: tell, updated: (_before, after) => tell(after), deleted: tell });
}

function serviceNameOf({ metadata }: EndpointSlice): string | undefined {
  return metadata.labels?.[WellKnownLabel.serviceName];
}

function holds({ endpoints }: EndpointSlice, address: string): boolean {
  return endpoints?.some(({ addresses }) => addresses.includes(address)) ?? false;
}

function networking({ status }: ForeignCluster): string {
  return `${(status?.observedGeneration ?? 0) > 0} ${status?.modules?.networking?.enabled === true}`;
}
