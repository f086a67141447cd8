import {
  ClusterRoleBinding,
  Configuration,
  Deployment,
  FirewallConfiguration,
  GatewayClient,
  GatewayServer,
  GeneveTunnel,
  InternalFabric,
  InternalNode,
  IP,
  type KubeObject,
  Label,
  LabelValue,
  Namespace,
  Network,
  Node,
  Pod,
  RoleBinding,
  RouteConfiguration,
  Secret,
  Service,
  ServiceAccount,
  WgGatewayClient,
  WgGatewayClientTemplate,
  WgGatewayServer,
  WgGatewayServerTemplate,
} from "../api";
import { nodeIdentity, OwnAddressCaches } from "../ipam/own-address-caches";
import { controllerOf, type Informer, type InformerSet, keyOf, refOfKey } from "../kube";
import { peersOf } from "../plan/peer-objects";

/** A gateway of either end. */
export type Gateway = GatewayServer | GatewayClient;

const BY_PEER = "peer";
const BY_NODE = "node";
const BY_OWNER = "owner";

/** What the networking controllers watch, each once. */
export class NetworkingCaches {
  readonly configurations: Informer<Configuration>;
  readonly networks: Informer<Network>;
  readonly ips: Informer<IP>;
  readonly servers: Informer<GatewayServer>;
  readonly clients: Informer<GatewayClient>;
  readonly internalNodes: Informer<InternalNode>;
  readonly internalFabrics: Informer<InternalFabric>;
  readonly tunnels: Informer<GeneveTunnel>;
  readonly firewalls: Informer<FirewallConfiguration>;
  readonly routes: Informer<RouteConfiguration>;
  /** All nodes, virtual ones included. */
  readonly nodes: Informer<Node>;
  /** Pods of this cluster, with what matters for reaching them. */
  readonly pods: Informer<Pod>;
  /** What of this cluster's own no network of a peer may hold. */
  readonly own: OwnAddressCaches;

  constructor(informers: InformerSet) {
    this.configurations = informers.informer(Configuration);
    this.networks = informers.informer(Network);
    this.ips = informers.informer(IP);
    this.servers = informers.informer(GatewayServer);
    this.clients = informers.informer(GatewayClient);
    this.internalNodes = informers.informer(InternalNode);
    this.internalFabrics = informers.informer(InternalFabric);
    this.tunnels = informers.informer(GeneveTunnel);
    // The controllers do not read the status, which agents write often.
    this.firewalls = informers.informer(FirewallConfiguration, { project: firewallWithoutStatus });
    this.routes = informers.informer(RouteConfiguration, { project: routeWithoutStatus });
    this.nodes = informers.informer(Node, { project: nodeIdentity });
    this.pods = informers.informer(Pod, { project: podAddresses });
    this.own = new OwnAddressCaches(informers);
    for (const informer of [this.configurations, this.servers, this.clients]) {
      informer.addIndex(BY_PEER, peersOf);
    }
    this.firewalls.addIndex(BY_OWNER, ownersOf);
    this.tunnels.addIndex(BY_OWNER, ownersOf);
    this.pods.addIndex(BY_NODE, ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []));
  }

  /** Resolves when all of them are known: what has been given is read from objects of several kinds. */
  async whenSynced(): Promise<void> {
    const informers = [
      this.configurations,
      this.networks,
      this.ips,
      this.servers,
      this.clients,
      this.internalNodes,
      this.internalFabrics,
      this.tunnels,
      this.firewalls,
      this.routes,
      this.nodes,
      this.pods,
      this.own,
    ];
    await Promise.all(informers.map((informer) => informer.whenSynced()));
  }

  /** The objects of one of the caches that concern a peer. */
  ofPeer<T extends Configuration | GatewayServer | GatewayClient>(informer: Informer<T>, peer: string): T[] {
    return informer.byIndex(BY_PEER, peer);
  }

  /** The FirewallConfigurations that an object controls. */
  ownFirewalls(owner: KubeObject): FirewallConfiguration[] {
    return this.firewalls.byIndex(BY_OWNER, owner.metadata.uid ?? "");
  }

  /** The tunnels of the overlay that a gateway's end controls. */
  ownTunnels(fabric: InternalFabric): GeneveTunnel[] {
    return this.tunnels.byIndex(BY_OWNER, fabric.metadata.uid ?? "");
  }

  /** The gateway of a {@link gatewayKey}. */
  gatewayOf(key: string): Gateway | undefined {
    const [kind, ref = ""] = key.split(" ");
    const { name, namespace } = refOfKey(ref);
    return kind === "GatewayServer" ? this.servers.get(name, namespace) : this.clients.get(name, namespace);
  }

  podsOn(node: string): Pod[] {
    return this.pods.byIndex(BY_NODE, node);
  }
}

/** The key of a gateway among those of both kinds, such as `GatewayServer liqo-tenant-rome/rome`. */
export function gatewayKey(gateway: Gateway): string {
  return `${gateway.kind} ${keyOf(gateway)}`;
}

/** For a source: the {@link gatewayKey} of the gateway that controls an object. */
export function gatewayOwnerKeys(object: KubeObject): string[] {
  const owner = controllerOf(object);
  return owner === undefined ? [] : [`${owner.kind} ${object.metadata.namespace}/${owner.name}`];
}

function ownersOf(object: KubeObject): string[] {
  const owner = controllerOf(object);
  return owner === undefined ? [] : [owner.uid];
}

function firewallWithoutStatus({ status: _status, ...rest }: FirewallConfiguration): FirewallConfiguration {
  return rest;
}

function routeWithoutStatus({ status: _status, ...rest }: RouteConfiguration): RouteConfiguration {
  return rest;
}

/** The labels that the networking controllers read. */
const POD_LABELS = [
  Label.shadowPod,
  Label.networkingComponent,
  Label.gatewayActive,
  Label.gatewayName,
  Label.gatewayNamespace,
];

function podAddresses({ apiVersion, kind, metadata, spec, status }: Pod): Pod {
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp, labels } = metadata;
  const kept = POD_LABELS.flatMap((key): [string, string][] => {
    const value = labels?.[key];
    return value === undefined ? [] : [[key, value]];
  });
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion,
      creationTimestamp,
      ...(deletionTimestamp && { deletionTimestamp }),
      ...(kept.length > 0 && { labels: Object.fromEntries(kept) }),
    },
    spec: { containers: [], nodeName: spec?.nodeName, hostNetwork: spec?.hostNetwork },
    status: { phase: status?.phase, podIP: status?.podIP, podIPs: status?.podIPs },
  };
}

/** What the controllers of gateways watch beside the networking controllers' caches. */
export class GatewayCaches {
  readonly serverTemplates: Informer<WgGatewayServerTemplate>;
  readonly clientTemplates: Informer<WgGatewayClientTemplate>;
  readonly wgServers: Informer<WgGatewayServer>;
  readonly wgClients: Informer<WgGatewayClient>;
  readonly deployments: Informer<Deployment>;
  readonly services: Informer<Service>;
  readonly serviceAccounts: Informer<ServiceAccount>;
  readonly clusterRoleBindings: Informer<ClusterRoleBinding>;
  readonly roleBindings: Informer<RoleBinding>;
  /** With the keys of gateways. */
  readonly keys: Informer<Secret>;
  /** Those that name a peer. */
  readonly peerNamespaces: Informer<Namespace>;

  constructor(informers: InformerSet) {
    const ours = { labelSelector: Label.gatewayName };
    this.serverTemplates = informers.informer(WgGatewayServerTemplate);
    this.clientTemplates = informers.informer(WgGatewayClientTemplate);
    this.wgServers = informers.informer(WgGatewayServer);
    this.wgClients = informers.informer(WgGatewayClient);
    this.deployments = informers.informer(Deployment, ours);
    this.services = informers.informer(Service, ours);
    this.serviceAccounts = informers.informer(ServiceAccount, ours);
    this.clusterRoleBindings = informers.informer(ClusterRoleBinding, ours);
    this.roleBindings = informers.informer(RoleBinding, ours);
    this.keys = informers.informer(Secret, {
      labelSelector: `${Label.gatewayResource}=${LabelValue.true}`,
      project: withoutValues,
    });
    this.peerNamespaces = informers.informer(Namespace, { labelSelector: Label.remoteClusterID });
  }
}

/** The controllers need to know which keys exist, not the keys. */
function withoutValues({ apiVersion, kind, metadata, data }: Secret): Secret {
  const names = Object.keys(data ?? {});
  return { apiVersion, kind, metadata, data: Object.fromEntries(names.map((name) => [name, ""])) };
}
