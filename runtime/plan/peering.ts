import {
  Annotation,
  controlPlaneIdentityName,
  DataKey,
  Label,
  LabelValue,
  Name,
  tenantNamespaceName,
  WellKnownLabel,
} from "../api/keys";
import type { AuthParams, Identity, ResourceSlice, Tenant } from "../api/authentication";
import type { Namespace, Secret } from "../api/kubernetes";
import type { ManifestOf } from "./manifest";
import type { SliceRequest } from "./offloading";

/** A cluster and its namespace for one peer. */
export interface PeeringSide {
  clusterId: string;
  tenantNamespace: string;
}

/** Who lends to whom. */
export interface PeeringSides {
  /** The cluster that offloads work. */
  consumer: PeeringSide;
  /** The cluster that lends its resources. */
  provider: PeeringSide;
}

/** Fills in the tenant namespaces that were not named: `liqo-tenant-<peer>` (control plane reference 3.2). */
export function peeringSides(
  consumer: { clusterId: string; tenantNamespace?: string },
  provider: { clusterId: string; tenantNamespace?: string },
): PeeringSides {
  return {
    consumer: {
      clusterId: consumer.clusterId,
      tenantNamespace: consumer.tenantNamespace ?? tenantNamespaceName(provider.clusterId),
    },
    provider: {
      clusterId: provider.clusterId,
      tenantNamespace: provider.tenantNamespace ?? tenantNamespaceName(consumer.clusterId),
    },
  };
}

/** The namespace that holds everything about one peer. */
export function tenantNamespace(name: string, peer: string): ManifestOf<Namespace> {
  return {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name,
      labels: {
        [Label.remoteClusterID]: peer,
        [Label.tenantNamespace]: LabelValue.true,
        // Gateways run here and need the network's administration.
        [WellKnownLabel.podSecurityEnforce]: "privileged",
        [WellKnownLabel.podSecurityAudit]: "privileged",
        [WellKnownLabel.podSecurityWarn]: "privileged",
      },
    },
  };
}

/** At the provider: asks its controllers for a nonce, which they put into the Secret (control plane reference 5, step 2). */
export function nonceSecret({ consumer, provider }: PeeringSides): ManifestOf<Secret> {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: Name.nonceSecret,
      namespace: provider.tenantNamespace,
      labels: { [Label.nonce]: LabelValue.true, [Label.remoteClusterID]: consumer.clusterId },
    },
    type: "Opaque",
  };
}

/** At the consumer: asks its controllers to sign the provider's nonce (step 3). */
export function signedNonceSecret({ consumer, provider }: PeeringSides, nonce: string): ManifestOf<Secret> {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: Name.signedNonceSecret,
      namespace: consumer.tenantNamespace,
      labels: { [Label.signedNonce]: LabelValue.true, [Label.remoteClusterID]: provider.clusterId },
    },
    type: "Opaque",
    data: { [DataKey.nonce]: Buffer.from(nonce).toString("base64") },
  };
}

/** What the consumer shows of itself; every value base64, as the API has it. */
export interface TenantCredentials {
  publicKey: string;
  csr: string;
  signature: string;
}

/** At the provider: the consumer as a tenant (step 5). */
export function tenant(
  { consumer, provider }: PeeringSides,
  credentials: TenantCredentials,
  proxyURL?: string,
): ManifestOf<Tenant> {
  return {
    apiVersion: "authentication.liqo.io/v1beta1",
    kind: "Tenant",
    metadata: {
      name: consumer.clusterId,
      namespace: provider.tenantNamespace,
      labels: { [Label.remoteClusterID]: consumer.clusterId },
    },
    spec: {
      clusterID: consumer.clusterId,
      authzPolicy: "KeysExchange",
      ...credentials,
      ...(proxyURL === undefined ? {} : { proxyURL }),
    },
  };
}

/** At the consumer: the credentials that the provider gave (step 7). */
export function controlPlaneIdentity(
  { consumer, provider }: PeeringSides,
  authParams: AuthParams,
): ManifestOf<Identity> {
  return {
    apiVersion: "authentication.liqo.io/v1beta1",
    kind: "Identity",
    metadata: {
      name: controlPlaneIdentityName(provider.clusterId),
      namespace: consumer.tenantNamespace,
      labels: { [Label.remoteClusterID]: provider.clusterId },
    },
    spec: {
      clusterID: provider.clusterId,
      type: "ControlPlane",
      authParams,
      namespace: provider.tenantNamespace,
    },
  };
}

/** At the consumer: a request for resources, copied to the provider by the replicator (control plane reference 10). */
export function resourceSlice(request: SliceRequest, createVirtualNode: boolean): ManifestOf<ResourceSlice> {
  const { providerClusterId, resources } = request;
  return {
    apiVersion: "authentication.liqo.io/v1beta1",
    kind: "ResourceSlice",
    metadata: {
      name: request.sliceName,
      namespace: request.tenantNamespace,
      labels: {
        [Label.remoteClusterID]: providerClusterId,
        [Label.replicationDestination]: providerClusterId,
        [Label.replication]: LabelValue.true,
      },
      annotations: { [Annotation.createVirtualNode]: String(createVirtualNode) },
    },
    spec: {
      class: request.class,
      providerClusterID: providerClusterId,
      ...(resources === undefined ? {} : { resources }),
    },
  };
}
