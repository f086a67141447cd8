/** The components: an installation on a cluster, peerings between clusters, and what is offloaded. */
export { AuthenticationPeering, type AuthenticationPeeringArgs } from "./authentication-peering";
export { type ClusterAccess, type ClusterArgs, clusterProvider, type ClusterProviderArgs } from "./cluster";
export { Fleet, type FleetArgs, type FleetClusterArgs, type FleetPeeringArgs } from "./fleet";
export { Installation } from "./installation";
export type {
  ApiServerArgs,
  AwsArgs,
  ComponentResourcesArgs,
  FabricArgs,
  GatewayArgs,
  InstallationArgs,
  NetworkingArgs,
  OffloadedPodsArgs,
  PingArgs,
  ReplicasArgs,
  ResourceRequirementsArgs,
  TolerationArgs,
} from "./installation-args";
export {
  NamespaceOffloading,
  type NamespaceOffloadingArgs,
  type NodeSelectorArgs,
  type NodeSelectorRequirementArgs,
  type NodeSelectorTermArgs,
} from "./namespace-offloading";
export {
  type GatewayTemplateArgs,
  type NetworkLinkArgs,
  NetworkPeering,
  type NetworkPeeringArgs,
} from "./network-peering";
export { Peering, type PeeringArgs, type PeeringNetworkArgs } from "./peering";
export type { PeeringClusterArgs } from "./peering-sides";
export { ResourceSlice, type ResourceSliceArgs } from "./resource-slice";
export {
  type IngressClassArgs,
  type LoadBalancerClassArgs,
  type StorageClassArgs,
  VirtualNode,
  type VirtualNodeArgs,
} from "./virtual-node";
