/** The components: an installation on a cluster, peerings between clusters, and what is offloaded. */
export { AuthenticationPeering, type AuthenticationPeeringArgs } from "./authentication-peering";
export { type ClusterAccess, type ClusterArgs, clusterProvider, type ClusterProviderArgs } from "./cluster";
export { Fleet, type FleetArgs, type FleetClusterArgs, type FleetPeeringArgs } from "./fleet";
export {
  type ApiServerArgs,
  type ComponentResourcesArgs,
  Installation,
  type InstallationArgs,
  type ReplicasArgs,
  type ResourceRequirementsArgs,
} from "./installation";
export {
  NamespaceOffloading,
  type NamespaceOffloadingArgs,
  type NodeSelectorArgs,
  type NodeSelectorRequirementArgs,
  type NodeSelectorTermArgs,
} from "./namespace-offloading";
export { Peering, type PeeringArgs } from "./peering";
export type { PeeringClusterArgs } from "./peering-sides";
export { ResourceSlice, type ResourceSliceArgs } from "./resource-slice";
export {
  type IngressClassArgs,
  type LoadBalancerClassArgs,
  type StorageClassArgs,
  VirtualNode,
  type VirtualNodeArgs,
} from "./virtual-node";
