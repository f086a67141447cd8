/** The resources that Pulumi's own providers do not have: keys, waiting, and the steps of the handshake between two clusters. */
import { clusterNetworks } from "./cluster-networks";
import { engineContext, type ResourceKey } from "./core/definition";
import type { ResourceFunctions } from "./core/lifecycle";
import { dynamicResource } from "./core/liqo-resource";
import { definitionsResource } from "./definitions";
import { gatewayRead } from "./gateway-read";
import { identityCredentials } from "./identity-credentials";
import { ed25519KeyPair, wireGuardKeyPair } from "./key-pairs";
import { localCluster } from "./local-cluster/functions";
import type * as images from "./local-cluster/local-images";
import { networkConnection } from "./network-connection";
import { networkingGuard } from "./networking-guard";
import { nonceRead } from "./nonce-read";
import { preflight } from "./preflight";
import { proxyRead } from "./proxy-read";
import { removalGuard } from "./removal-guard";
import { tenantCredentials } from "./tenant-credentials";
import { tenantNamespaceResource } from "./tenant-namespace";
import { waitFor } from "./wait-for";

export { ClusterNetworks, type ClusterNetworksArgs } from "./cluster-networks";
export type { ResourceKey } from "./core/definition";
export { Definitions, type DefinitionsArgs } from "./definitions";
export { GatewayRead, type GatewayReadArgs } from "./gateway-read";
export { IdentityCredentials, type IdentityCredentialsArgs } from "./identity-credentials";
export { Ed25519KeyPair, type KeyPairArgs, WireGuardKeyPair } from "./key-pairs";
export type { LocalImages } from "./local-cluster/local-images";
export { LocalCluster, type LocalClusterArgs } from "./local-cluster/resource";
export { NetworkConnection, type NetworkConnectionArgs } from "./network-connection";
export { NetworkingGuard, type NetworkingGuardArgs } from "./networking-guard";
export { NonceRead, type NonceReadArgs } from "./nonce-read";
export { Preflight, type PreflightArgs } from "./preflight";
export { ProxyRead, type ProxyReadArgs } from "./proxy-read";
export { RemovalGuard, type RemovalGuardArgs } from "./removal-guard";
export { TenantCredentials, type TenantCredentialsArgs } from "./tenant-credentials";
export { TenantNamespace, type TenantNamespaceArgs } from "./tenant-namespace";
export { WaitFor, type WaitForArgs } from "./wait-for";

/**
 * Builds the images that local clusters cannot pull, or finds them built (provider/local-cluster/local-images.ts). Loaded on use, as are the local
 * clusters themselves: each run of each stack loads this module.
 */
export const localImages: typeof images.localImages = async (...args) =>
  (await import("./local-cluster/local-images.js")).localImages(...args);

/** The functions of each kind of resource. */
export const resources = {
  wireGuardKeyPair,
  ed25519KeyPair,
  waitFor,
  nonceRead,
  tenantCredentials,
  identityCredentials,
  removalGuard,
  definitions: definitionsResource,
  localCluster,
  clusterNetworks,
  gatewayRead,
  networkConnection,
  networkingGuard,
  preflight,
  proxyRead,
  tenantNamespace: tenantNamespaceResource,
} as const satisfies Record<ResourceKey, ResourceFunctions>;

/** The functions of a kind in the form of Pulumi's dynamic providers: what the code in the state calls. */
export function dynamicResourceOf(key: ResourceKey) {
  return dynamicResource(resources[key], engineContext);
}
