import {
  CertificateSigningRequest,
  ClusterRole,
  ClusterRoleBinding,
  Identity,
  type KubeObject,
  Label,
  Name,
  Namespace,
  NamespaceMap,
  Renew,
  ResourceSlice,
  RoleBinding,
  Secret,
  Tenant,
  WellKnownLabel,
} from "../api";
import type { Informer, InformerSet } from "../kube";
import { consumerRole } from "./bindings";
import { consumptionOfIdentity, consumptionOfSecret } from "./own-sources";
import { TenantNamespaces } from "./tenant-namespaces";

const peer = "peer";
const consumption = "consumption";

/** The peer that an object is labelled with. */
const peersOf = ({ metadata }: KubeObject): string[] => present(metadata.labels?.[Label.remoteClusterID]);
/** The consumer of a Tenant: its spec counts, since the label may be missing. */
const consumersOf = ({ spec }: Tenant): string[] => present(spec.clusterID);
/** Every consumer that a copy of a slice names: a peer that labels its copy as another's is found by both. */
const claimantsOf = ({ spec, metadata }: ResourceSlice): string[] => [
  ...new Set([
    ...present(metadata.labels?.[Label.replicationOrigin]),
    ...present(spec.consumerClusterID),
    ...present(metadata.labels?.[Label.remoteClusterID]),
  ]),
];

function present(value: string | undefined): string[] {
  return value === undefined || value === "" ? [] : [value];
}

/** What the authentication controllers watch, each once. */
export class AuthenticationCaches {
  readonly tenantNamespaces: TenantNamespaces;
  readonly clusterKeys: Informer<Secret>;
  readonly nonces: Informer<Secret>;
  readonly signedNonces: Informer<Secret>;
  /** All Secrets about a peer: kubeconfigs and issued certificates among them. */
  readonly peerSecrets: Informer<Secret>;
  readonly tenants: Informer<Tenant>;
  readonly identities: Informer<Identity>;
  readonly slices: Informer<ResourceSlice>;
  readonly renews: Informer<Renew>;
  readonly namespaceMaps: Informer<NamespaceMap>;
  readonly consumerRoles: Informer<ClusterRole>;
  readonly roleBindings: Informer<RoleBinding>;
  readonly clusterRoleBindings: Informer<ClusterRoleBinding>;
  readonly certificateRequests: Informer<CertificateSigningRequest>;

  constructor(informers: InformerSet, liqoNamespace: string) {
    const labelled = { labelSelector: Label.remoteClusterID };
    this.tenantNamespaces = new TenantNamespaces(
      informers.informer(Namespace, { labelSelector: Label.tenantNamespace }),
    );
    this.clusterKeys = informers.informer(Secret, {
      namespace: liqoNamespace,
      fieldSelector: `metadata.name=${Name.clusterKeys}`,
    });
    this.nonces = informers.informer(Secret, { labelSelector: Label.nonce });
    this.signedNonces = informers.informer(Secret, { labelSelector: Label.signedNonce });
    this.peerSecrets = informers.informer(Secret, labelled);
    this.tenants = informers.informer(Tenant);
    this.identities = informers.informer(Identity);
    this.slices = informers.informer(ResourceSlice);
    this.renews = informers.informer(Renew);
    this.namespaceMaps = informers.informer(NamespaceMap);
    this.consumerRoles = informers.informer(ClusterRole, {
      labelSelector: `${WellKnownLabel.appName} in (${consumerRole.controlPlane},${consumerRole.clusterWide})`,
      // Their rules are of no concern here.
      project: withoutRules,
    });
    this.roleBindings = informers.informer(RoleBinding, labelled);
    this.clusterRoleBindings = informers.informer(ClusterRoleBinding, labelled);
    // All of them: they are few, and the same watch serves their approval.
    this.certificateRequests = informers.informer(CertificateSigningRequest);
    for (const informer of [this.nonces, this.signedNonces, this.peerSecrets]) {
      informer.addIndex(peer, peersOf);
    }
    this.identities.addIndex(consumption, consumptionOfIdentity);
    this.peerSecrets.addIndex(consumption, consumptionOfSecret);
    this.tenants.addIndex(peer, consumersOf);
    this.slices.addIndex(peer, claimantsOf);
    this.renews.addIndex(peer, peersOf);
    this.roleBindings.addIndex(peer, peersOf);
    this.clusterRoleBindings.addIndex(peer, peersOf);
  }

  /** The objects of one of the caches that concern a peer. */
  ofPeer<T extends KubeObject>(informer: Informer<T>, clusterId: string): T[] {
    return informer.byIndex(peer, clusterId);
  }

  /** Whether this cluster has a control-plane identity for a direction, as `consumption` names it. */
  consumes(direction: string): boolean {
    return (
      this.identities.byIndex(consumption, direction).length > 0 ||
      this.peerSecrets.byIndex(consumption, direction).length > 0
    );
  }

  /** Names of the roles that consumers are given, by what they are for. */
  rolesFor(purpose: string): string[] {
    return this.consumerRoles
      .list()
      .filter(({ metadata }) => metadata.labels?.[WellKnownLabel.appName] === purpose)
      .map(({ metadata }) => metadata.name)
      .sort();
  }
}

function withoutRules(role: ClusterRole): ClusterRole {
  return { apiVersion: role.apiVersion, kind: role.kind, metadata: role.metadata };
}
