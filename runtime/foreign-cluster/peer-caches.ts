import {
  Configuration,
  Connection,
  Deployment,
  ForeignCluster,
  GatewayClient,
  GatewayServer,
  Identity,
  type KubeObject,
  Label,
  LabelValue,
  Namespace,
  Node,
  Secret,
  Tenant,
  VirtualNode,
} from "../api";
import { exceptStatus, type Informer, type InformerSet, type Source, watches } from "../kube";
import { DeploymentName } from "../plan/deployments";
import { maySpeakOf, peersOf } from "../plan/peer-objects";

/** What the ForeignCluster controller is told by the flags of its process. */
export interface ForeignClusterOptions {
  /** Where the installation is. */
  liqoNamespace: string;
  networkingEnabled: boolean;
  authenticationEnabled: boolean;
  offloadingEnabled: boolean;
  /** Whether each virtual node has a process of its own. */
  virtualKubeletPerNode: boolean;
  /** Between two checks of a peer's API server, in milliseconds; 0 switches the checks off. */
  pingIntervalMs: number;
  /** For one check, in milliseconds. */
  pingTimeoutMs: number;
  /** Peers worked on at the same time. */
  workers: number;
}

const peer = "peer";

/** A ForeignCluster is found by its label and, where that is missing, by its spec. */
const clustersOf = (foreignCluster: ForeignCluster): string[] => [
  ...new Set([foreignCluster.spec.clusterID, ...peersOf(foreignCluster)]),
];

/** What the state of peers is read from. Modules that this installation does not have are not watched. */
export class PeerCaches {
  readonly foreignClusters: Informer<ForeignCluster>;
  /** Those that name a peer: of each whose it is. */
  private readonly peerNamespaces: Informer<Namespace>;
  readonly networking?: {
    configurations: Informer<Configuration>;
    connections: Informer<Connection>;
    servers: Informer<GatewayServer>;
    clients: Informer<GatewayClient>;
    deployments: Informer<Deployment>;
  };
  readonly authentication?: {
    tenants: Informer<Tenant>;
    identities: Informer<Identity>;
    secrets: Informer<Secret>;
  };
  readonly offloading?: {
    virtualNodes: Informer<VirtualNode>;
    nodes: Informer<Node>;
    /** Of the process that hosts all virtual nodes or, where each has its own, of those. */
    virtualKubelets: Informer<Deployment>;
    perNode: boolean;
  };

  constructor(informers: InformerSet, options: ForeignClusterOptions) {
    this.foreignClusters = informers.informer(ForeignCluster);
    this.foreignClusters.addIndex(peer, clustersOf);
    this.peerNamespaces = informers.informer(Namespace, { labelSelector: Label.remoteClusterID });
    if (options.networkingEnabled) {
      this.networking = {
        configurations: indexed(informers.informer(Configuration)),
        connections: indexed(informers.informer(Connection)),
        servers: indexed(informers.informer(GatewayServer)),
        clients: indexed(informers.informer(GatewayClient)),
        deployments: informers.informer(Deployment, {
          labelSelector: `${Label.networkingComponent}=${LabelValue.gateway}`,
          project: readinessOnly,
        }),
      };
    }
    if (options.authenticationEnabled) {
      this.authentication = {
        tenants: indexed(informers.informer(Tenant)),
        identities: indexed(informers.informer(Identity)),
        secrets: indexed(
          // Shared with the other controllers; see `controlPlaneSecrets`.
          informers.informer(Secret, { labelSelector: Label.remoteClusterID }),
        ),
      };
    }
    if (options.offloadingEnabled) {
      this.offloading = {
        virtualNodes: indexed(informers.informer(VirtualNode)),
        nodes: indexed(
          informers.informer(Node, {
            labelSelector: `${Label.nodeType}=${LabelValue.virtualNode}`,
            project: conditionsOnly,
          }),
        ),
        virtualKubelets: informers.informer(Deployment, {
          ...(options.virtualKubeletPerNode
            ? {
                labelSelector: `${Label.offloadingComponent}=${LabelValue.virtualKubelet},${Label.virtualNode}`,
              }
            : {
                namespace: options.liqoNamespace,
                fieldSelector: `metadata.name=${DeploymentName.virtualKubelet}`,
              }),
          project: readinessOnly,
        }),
        perNode: options.virtualKubeletPerNode,
      };
    }
  }

  ofPeer<T extends KubeObject>(informer: Informer<T>, clusterId: string): T[] {
    // Oldest first, so that of several the same one counts each time.
    return informer
      .byIndex(peer, clusterId)
      .filter((object) => this.mayConcern(object, clusterId))
      .sort(byAge);
  }

  private mayConcern({ metadata: { namespace } }: KubeObject, clusterId: string): boolean {
    return namespace === undefined || maySpeakOf(this.peerNamespaces.get(namespace), clusterId);
  }

  /** The Secrets with which we can reach a peer's API server, oldest first. */
  controlPlaneSecrets(clusterId: string): Secret[] {
    if (this.authentication === undefined) return [];
    return this.ofPeer(this.authentication.secrets, clusterId).filter(
      (secret) => isControlPlaneSecret(secret) && !secret.metadata.deletionTimestamp,
    );
  }

  /** Everything that changes the state of a peer, with the peer's cluster ID as key. */
  sources(): Source[] {
    const { networking, authentication, offloading } = this;
    const ofAll = (informer: Informer<VirtualNode>) => () => informer.list().flatMap(peersOf);
    return [
      watches(this.foreignClusters, { keys: clustersOf, when: exceptStatus }),
      watches(this.peerNamespaces, { keys: peersOf, when: exceptStatus }),
      ...(networking === undefined
        ? []
        : [
            of(networking.configurations),
            of(networking.connections),
            of(networking.servers),
            of(networking.clients),
            watches(networking.deployments, {
              keys: ({ metadata }) => this.gatewayPeers(metadata.name, metadata.namespace),
            }),
          ]),
      ...(authentication === undefined
        ? []
        : [
            of(authentication.tenants),
            of(authentication.identities),
            watches(authentication.secrets, {
              keys: peersOf,
              when: ({ object }) => isControlPlaneSecret(object),
            }),
          ]),
      ...(offloading === undefined
        ? []
        : [
            of(offloading.virtualNodes),
            of(offloading.nodes),
            watches(offloading.virtualKubelets, {
              keys: offloading.perNode ? peersOf : ofAll(offloading.virtualNodes),
            }),
          ]),
    ];
  }

  private gatewayPeers(deployment: string, namespace: string | undefined): string[] {
    const gateway = deployment.replace(/^gw-/, "");
    const { servers, clients } = this.networking ?? {};
    return [servers?.get(gateway, namespace), clients?.get(gateway, namespace)].flatMap((found) =>
      found === undefined ? [] : peersOf(found),
    );
  }
}

function isControlPlaneSecret({ metadata }: Secret): boolean {
  return metadata.labels?.[Label.identityType] === "ControlPlane";
}

function of<T extends KubeObject>(informer: Informer<T>): Source {
  return watches(informer, { keys: peersOf });
}

function indexed<T extends KubeObject>(informer: Informer<T>): Informer<T> {
  informer.addIndex(peer, peersOf);
  return informer;
}

function byAge(left: KubeObject, right: KubeObject): number {
  const [first, second] = [left, right].map(
    ({ metadata }) => `${metadata.creationTimestamp ?? ""} ${metadata.namespace ?? ""}/${metadata.name}`,
  );
  return (first ?? "") < (second ?? "") ? -1 : 1;
}

function readinessOnly({ apiVersion, kind, metadata, status }: Deployment): Deployment {
  const { replicas, readyReplicas, unavailableReplicas } = status ?? {};
  const spec = { selector: {}, template: {} };
  return { apiVersion, kind, metadata, spec, status: { replicas, readyReplicas, unavailableReplicas } };
}

/** A node is written often: what does not matter here is not kept. */
function conditionsOnly({ apiVersion, kind, metadata, status }: Node): Node {
  const ready = status?.conditions?.filter(({ type }) => type === "Ready");
  return {
    apiVersion,
    kind,
    metadata: {
      name: metadata.name,
      uid: metadata.uid,
      resourceVersion: metadata.resourceVersion,
      labels: metadata.labels,
    },
    spec: {},
    status: { conditions: ready?.map(({ type, status: value }) => ({ type, status: value })) },
  };
}
