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
  type Quota,
  Renew,
  ResourceSlice,
  RoleBinding,
  Secret,
  Tenant,
  WellKnownLabel,
} from "../api";
import type { GlobalMetadata, Informer, InformerSet, RuntimeContext } from "../kube";
import { peersOf } from "../plan/peer-objects";
import type { DefaultClassOptions } from "./slice-class";
import type { EndpointOptions } from "./identity-provider/api-server-endpoint";
import type { AwsApi } from "./identity-provider/aws-api";
import { TenantNamespaces } from "./tenant-namespace";

/** What each of the authentication controllers is given. */
export interface AuthenticationContext {
  runtime: RuntimeContext;
  options: AuthenticationOptions;
  caches: AuthenticationCaches;
}

/** The longest time until a requeue. Wall clocks jump, and timers have a longest time. */
const longestWaitMs = 60 * 60_000;

/** The outcome of a reconcile that wants a requeue after some time, or none. */
export function requeueAfter(afterMs: number | undefined): { requeueAfterMs: number } | undefined {
  return afterMs === undefined
    ? undefined
    : { requeueAfterMs: Math.min(Math.max(afterMs, 0), longestWaitMs) };
}

/** Settings of the authentication controllers, from the flags of their process. */
export interface AuthenticationOptions {
  /** This cluster's ID. */
  clusterId: string;
  /** Where the installation and the cluster's key pair are. */
  liqoNamespace: string;
  /** Makes an RSA key pair, for TLS stacks without Ed25519. An existing pair is used as it is. */
  tlsCompatibilityMode: boolean;
  endpoint: EndpointOptions;
  defaultClass: DefaultClassOptions;
  /** For the quotas of slices. */
  limitsEnforcement: NonNullable<Quota["spec"]["limitsEnforcement"]>;
  global: GlobalMetadata;
  /** On EKS, which signs no client certificates: consumers become IAM users. */
  aws?: { api: AwsApi; region: string; clusterName: string };
  /** Whether slices become virtual nodes and quotas. */
  offloadingEnabled: boolean;
}

/** Values of `app.kubernetes.io/name` by which the roles for consumers are found (control plane reference 3.3). */
export const consumerRole = {
  /** For the consumer's control plane, in its tenant namespace. */
  controlPlane: "remote-controlplane",
  /** For all of the consumer's identities, in the whole cluster. */
  clusterWide: "virtual-kubelet-remote-clusterwide",
} as const;

const byPeer = "peer";
const byConsumption = "consumption";

/** The peer that an object is labelled with. */
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

/** Index key of one direction of a peering at its consumer: the namespace of its objects, and the provider. */
export function consumption(namespace: string | undefined, provider: string | undefined): string {
  return `${namespace ?? ""} ${provider ?? ""}`;
}

/** The direction of a control-plane Identity, or of a Secret that was made from one or by hand; none for other objects. */
export const consumptionOfIdentity = ({ metadata, spec }: Identity): string[] =>
  spec.type === "ControlPlane" && spec.clusterID ? [consumption(metadata.namespace, spec.clusterID)] : [];

export const consumptionOfSecret = ({ metadata }: Secret): string[] => {
  const { [Label.identityType]: type, [Label.remoteClusterID]: provider } = metadata.labels ?? {};
  return type === "ControlPlane" && provider ? [consumption(metadata.namespace, provider)] : [];
};

/** The caches of the authentication controllers, one watch each. */
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
      // Nothing here reads their rules.
      project: withoutRules,
    });
    this.roleBindings = informers.informer(RoleBinding, labelled);
    this.clusterRoleBindings = informers.informer(ClusterRoleBinding, labelled);
    // All of them: they are few, and the same watch serves their approval.
    this.certificateRequests = informers.informer(CertificateSigningRequest);
    for (const informer of [this.nonces, this.signedNonces, this.peerSecrets]) {
      informer.addIndex(byPeer, peersOf);
    }
    this.identities.addIndex(byConsumption, consumptionOfIdentity);
    this.peerSecrets.addIndex(byConsumption, consumptionOfSecret);
    this.tenants.addIndex(byPeer, consumersOf);
    this.slices.addIndex(byPeer, claimantsOf);
    this.renews.addIndex(byPeer, peersOf);
    this.roleBindings.addIndex(byPeer, peersOf);
    this.clusterRoleBindings.addIndex(byPeer, peersOf);
  }

  /** The objects of one of the caches that concern a peer. */
  ofPeer<T extends KubeObject>(informer: Informer<T>, clusterId: string): T[] {
    return informer.byIndex(byPeer, clusterId);
  }

  /** Whether this cluster has a control-plane identity for a direction, as `consumption` names it. */
  consumes(direction: string): boolean {
    return (
      this.identities.byIndex(byConsumption, direction).length > 0 ||
      this.peerSecrets.byIndex(byConsumption, direction).length > 0
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
