/** The resources that Pulumi's own providers do not have: keys, waiting, and the steps of the handshake between two clusters. */
import { clusterNetworks } from "./cluster-networks/functions";
import { definitionsResource } from "./definitions/functions";
import { dynamicResource } from "./dynamic-resource";
import { ed25519KeyPair } from "./ed25519-key-pair/functions";
import { gatewayRead } from "./gateway-read/functions";
import { identityCredentials } from "./identity-credentials/functions";
import { localCluster } from "./local-cluster/functions";
import type * as images from "./local-cluster/local-images";
import { networkConnection } from "./network-connection/functions";
import { networkingGuard } from "./networking-guard/functions";
import { nonceRead } from "./nonce-read/functions";
import { preflight } from "./preflight/functions";
import { engineContext } from "./provider-context";
import { proxyRead } from "./proxy-read/functions";
import { removalGuard } from "./removal-guard/functions";
import type { ResourceFunctions } from "./resource-functions";
import { tenantCredentials } from "./tenant-credentials/functions";
import { tenantNamespaceResource } from "./tenant-namespace/functions";
import { waitFor } from "./wait-for/functions";
import { wireGuardKeyPair } from "./wireguard-key-pair/functions";

export { ClusterNetworks, type ClusterNetworksArgs } from "./cluster-networks/resource";
export { Definitions, type DefinitionsArgs } from "./definitions/resource";
export { Ed25519KeyPair } from "./ed25519-key-pair/resource";
export { GatewayRead, type GatewayReadArgs } from "./gateway-read/resource";
export { IdentityCredentials, type IdentityCredentialsArgs } from "./identity-credentials/resource";
export type { KeyPairArgs } from "./key-pair-inputs";
export type { LocalImages } from "./local-cluster/local-images";
export { LocalCluster, type LocalClusterArgs } from "./local-cluster/resource";
export { NetworkConnection, type NetworkConnectionArgs } from "./network-connection/resource";
export { NetworkingGuard, type NetworkingGuardArgs } from "./networking-guard/resource";
export { NonceRead, type NonceReadArgs } from "./nonce-read/resource";
export { Preflight, type PreflightArgs } from "./preflight/resource";
export { ProxyRead, type ProxyReadArgs } from "./proxy-read/resource";
export { RemovalGuard, type RemovalGuardArgs } from "./removal-guard/resource";
export { TenantCredentials, type TenantCredentialsArgs } from "./tenant-credentials/resource";
export { TenantNamespace, type TenantNamespaceArgs } from "./tenant-namespace/resource";
export { WaitFor, type WaitForArgs } from "./wait-for/resource";
export { WireGuardKeyPair } from "./wireguard-key-pair/resource";

/**
 * Builds the images that local clusters cannot pull, or finds them built (provider/local-cluster/local-images.ts). Loaded on use, as are the local
 * clusters themselves: each run of each stack loads this module.
 */
export const localImages: typeof images.localImages = async (...args) =>
  (await import("./local-cluster/local-images.js")).localImages(...args);

/** Every kind of resource by the key under which its trampoline asks for it. Keys stand in people's states: never rename one. */
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
} as const satisfies Record<string, ResourceFunctions>;

export type ResourceKey = keyof typeof resources;

/** The same for Pulumi's dynamic provider process: what the trampolines call. */
export function dynamicResourceOf(key: ResourceKey) {
  return dynamicResource(resources[key], engineContext);
}
