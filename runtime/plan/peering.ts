import { z } from "zod";

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
import { clusterIdSchema, namespaceNameSchema } from "./arguments";
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

const sideSchema = z.strictObject({
  clusterId: clusterIdSchema,
  /** `liqo-tenant-<peer>` where none is given (control plane reference 3.2). */
  tenantNamespace: namespaceNameSchema.optional(),
});

/** The sides as they are given; fills in the tenant namespaces that were not named. */
export const peeringSidesSchema = z
  .strictObject({ consumer: sideSchema, provider: sideSchema })
  .refine(({ consumer, provider }) => consumer.clusterId !== provider.clusterId, {
    path: ["provider", "clusterId"],
    error: "is the consumer's ID too; a cluster cannot peer with itself, so give the other cluster's",
  })
  .transform(({ consumer, provider }): PeeringSides => {
    const fill = (side: z.output<typeof sideSchema>, peer: string): PeeringSide => ({
      clusterId: side.clusterId,
      tenantNamespace: side.tenantNamespace ?? tenantNamespaceName(peer),
    });
    return {
      consumer: fill(consumer, provider.clusterId),
      provider: fill(provider, consumer.clusterId),
    };
  });

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

/** At the consumer: asks its controllers to sign the provider's nonce, which goes into `data` (step 3). */
export function signedNonceSecret({ consumer, provider }: PeeringSides): ManifestOf<Secret> {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: Name.signedNonceSecret,
      namespace: consumer.tenantNamespace,
      labels: { [Label.signedNonce]: LabelValue.true, [Label.remoteClusterID]: provider.clusterId },
    },
    type: "Opaque",
  };
}

/** `data` of the Secret whose nonce is to be signed. */
export function nonceData(nonce: string): Record<string, string> {
  return { [DataKey.nonce]: Buffer.from(nonce).toString("base64") };
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
