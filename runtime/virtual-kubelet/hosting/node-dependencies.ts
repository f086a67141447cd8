import type { Configuration, ForeignCluster, IP, VirtualNode } from "../../api";
import { Label } from "../../api/keys";
import type { Node } from "../../api/kubernetes";
import type { Informer, KubeClient, RuntimeContext } from "../../kube";
import type { ProcessFlags } from "../settings/flags";
import { nodeSettings, type NodeSettings } from "../settings/node-settings";
import type { PeerIdentity, Peers } from "../peer/peer";
import { type PeerNetwork, peerNetwork } from "../peer/peer-network";
import { type ApiServerOffer, HOME_API_SERVER_HOST } from "../pods/api-server-access";
import type { ReflectionReports } from "../reflection/reflection-report";

/** What all virtual nodes of the process share. */
export interface Services {
  context: RuntimeContext;
  /** Of this cluster, for leases alone: when hundreds of pods start at once, their requests must not hold a renewal up. */
  leaseClient: KubeClient;
  flags: ProcessFlags;
  reports: ReflectionReports;
  peers: Peers;
  caches: Caches;
  /** Where the kubelet endpoint listens. */
  kubeletPort: number;
  /** Version of this cluster's API server, which virtual nodes show as their kubelet's. */
  kubeletVersion: string;
}

/** Watches of this cluster. */
export interface Caches {
  virtualNodes: Informer<VirtualNode>;
  /** Virtual ones only. */
  nodes: Informer<Node>;
  foreignClusters: Informer<ForeignCluster>;
  configurations: Informer<Configuration>;
  /** Addresses at which peers reach this cluster's API server. */
  apiServerIps: Informer<IP>;
}

const DEFAULT_API_SERVER_PORT = "443";

/** What the objects around a virtual node say at this moment. Read often, so what was read of an object is kept while the object is the same. */
export class NodeDependencies {
  private last: { virtualNode: VirtualNode; settings: NodeSettings };
  private lastNetwork:
    | {
        foreignCluster: ForeignCluster | undefined;
        configuration: Configuration | undefined;
        network: PeerNetwork;
      }
    | undefined;

  constructor(
    private readonly services: Pick<Services, "caches" | "flags">,
    virtualNode: VirtualNode,
  ) {
    this.last = { virtualNode, settings: nodeSettings(virtualNode, services.flags) };
  }

  /** Undefined once it is gone; its last settings go on to hold. */
  virtualNode(): VirtualNode | undefined {
    const { name, namespace } = this.last.virtualNode.metadata;
    return this.services.caches.virtualNodes.get(name, namespace);
  }

  settings(): NodeSettings {
    const present = this.virtualNode();
    if (present !== undefined && present !== this.last.virtualNode) {
      this.last = { virtualNode: present, settings: nodeSettings(present, this.services.flags) };
    }
    return this.last.settings;
  }

  foreignCluster(): ForeignCluster | undefined {
    const { clusterId } = this.peer;
    return this.services.caches.foreignClusters.list().find(({ spec }) => spec.clusterID === clusterId);
  }

  network(): PeerNetwork {
    const foreignCluster = this.foreignCluster();
    const configuration = this.configuration();
    const last = this.lastNetwork;
    if (
      last !== undefined &&
      last.foreignCluster === foreignCluster &&
      last.configuration === configuration
    ) {
      return last.network;
    }
    let network = peerNetwork(foreignCluster, configuration);
    // The same ranges give the same function, so that a comparison by identity sees no change.
    if (last?.configuration === configuration && last?.network.enabled === network.enabled) {
      network = { ...network, translate: last.network.translate };
    }
    this.lastNetwork = { foreignCluster, configuration, network };
    return network;
  }

  /** @throws where peers reach this cluster by translated addresses, and none of the API server's is known */
  apiServer(): ApiServerOffer {
    const { flags } = this.settings();
    if (!flags.enableApiserverSupport) return "disabled";
    if (flags.homeApiServerHost !== "" && flags.homeApiServerPort !== "") {
      return { host: flags.homeApiServerHost, port: flags.homeApiServerPort, addresses: [] };
    }
    const port = process.env.KUBERNETES_SERVICE_PORT ?? DEFAULT_API_SERVER_PORT;
    return { host: HOME_API_SERVER_HOST, port, addresses: this.apiServerAddresses() };
  }

  private get peer(): PeerIdentity {
    const { namespace, clusterId } = this.last.settings;
    return { namespace, clusterId };
  }

  private configuration(): Configuration | undefined {
    const { namespace, clusterId } = this.peer;
    return this.services.caches.configurations.list().find(({ metadata }) => {
      return metadata.namespace === namespace && metadata.labels?.[Label.remoteClusterID] === clusterId;
    });
  }

  private apiServerAddresses(): string[] {
    if (!this.network().remapped) return [];
    const addresses = this.services.caches.apiServerIps
      .list()
      .flatMap(({ status }) => (status?.ip === undefined ? [] : [status.ip]))
      .sort();
    if (addresses.length > 0) return addresses;
    throw new Error(
      "no IP mapping found for the remote cluster API server; " +
        `there must be an IP labelled ${Label.ipType}=api-server, with a status, in the Liqo namespace`,
    );
  }
}
