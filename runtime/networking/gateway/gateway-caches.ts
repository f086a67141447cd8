import {
  ClusterRoleBinding,
  Deployment,
  Label,
  LabelValue,
  Namespace,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
  WgGatewayClient,
  WgGatewayClientTemplate,
  WgGatewayServer,
  WgGatewayServerTemplate,
} from "../../api";
import type { Informer, InformerSet } from "../../kube";

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

/** Which keys there are is enough to know; the private ones stay where they are. */
function withoutValues({ apiVersion, kind, metadata, data }: Secret): Secret {
  const names = Object.keys(data ?? {});
  return { apiVersion, kind, metadata, data: Object.fromEntries(names.map((name) => [name, ""])) };
}
