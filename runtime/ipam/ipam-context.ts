import { Configuration, EndpointSlice, IP, Label, Namespace, Network, Service } from "../api";
import type { GlobalMetadata, Informer, InformerSet, RuntimeContext } from "../kube";
import { isTenantNamespace } from "../plan/peer-objects";
import type { Ipam } from "./ipam";
import { NetworkType, typeOf } from "./network-stage";
import type { OwnAddressCaches } from "./own-address-caches";

/** Value of the label that marks what the controller of IPs makes. */
export const MANAGED_BY_IP = "ip";

/** What the address management is told by the flags of its process. */
export interface IpamOptions {
  liqoNamespace: string;
  /** Where networks are taken from, in the order in which they are searched. Default: {@link DEFAULT_POOLS}. */
  pools: readonly string[];
  /** How often memory is compared with the objects, in milliseconds; 0 leaves it at the beginning. Default upstream: 2 minutes. */
  syncIntervalMs: number;
  global: GlobalMetadata;
}

/** What the controllers of networks and addresses watch, each once. */
export class IpamCaches {
  readonly networks: Informer<Network>;
  readonly ips: Informer<IP>;
  /** Those that were made for IPs. */
  readonly services: Informer<Service>;
  readonly endpointSlices: Informer<EndpointSlice>;
  /** Of tenants, in which peering users may make IPs. */
  readonly tenantNamespaces: Informer<Namespace>;
  readonly configurations: Informer<Configuration>;

  constructor(
    informers: InformerSet,
    private readonly liqoNamespace: string,
  ) {
    const ours = { labelSelector: `${Label.managedBy}=${MANAGED_BY_IP}` };
    this.networks = informers.informer(Network);
    this.ips = informers.informer(IP);
    this.services = informers.informer(Service, ours);
    this.endpointSlices = informers.informer(EndpointSlice, ours);
    this.tenantNamespaces = informers.informer(Namespace, { labelSelector: Label.tenantNamespace });
    this.configurations = informers.informer(Configuration);
  }

  /** The cluster whose tenant namespace it is, empty where it does not say; undefined for a namespace that is no tenant's. */
  tenantOf(namespace: string | undefined): string | undefined {
    const labels = this.tenantNamespaces.get(namespace ?? "")?.metadata.labels ?? {};
    return isTenantNamespace(labels) ? (labels[Label.remoteClusterID] ?? "") : undefined;
  }

  /** The Network that an IP takes its address from; undefined where it does not exist. */
  networkOf({ spec: { networkRef }, metadata }: IP): Network | undefined {
    if (networkRef?.name) {
      return this.networks.get(networkRef.name, networkRef.namespace || metadata.namespace);
    }
    const external = this.networks.list().filter((network) => typeOf(network) === NetworkType.external);
    return external.find((network) => network.metadata.namespace === this.liqoNamespace) ?? external[0];
  }
}

/** What each of the controllers of networks and addresses is given. */
export interface IpamContext {
  runtime: RuntimeContext;
  options: IpamOptions;
  caches: IpamCaches;
  own: OwnAddressCaches;
  ipam: Ipam;
}
