/** The components: an installation on a cluster, peerings between clusters, and what is offloaded. */
export { AuthenticationPeering, type AuthenticationPeeringArgs } from "./peering/authentication-peering";
export {
  type ClusterAccess,
  type ClusterArgs,
  clusterProvider,
  type ClusterProviderArgs,
  type PeeringClusterArgs,
} from "./core/cluster";
export { Fleet, type FleetArgs, type FleetClusterArgs, type FleetPeeringArgs } from "./fleet/fleet";
export { Installation } from "./installation/installation";
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
} from "./installation/installation-args";
export {
  NamespaceOffloading,
  type NamespaceOffloadingArgs,
  type NodeSelectorArgs,
  type NodeSelectorRequirementArgs,
  type NodeSelectorTermArgs,
} from "./offloading/namespace-offloading";
export {
  type GatewayTemplateArgs,
  type NetworkLinkArgs,
  NetworkPeering,
  type NetworkPeeringArgs,
} from "./peering/network-peering";
export { Peering, type PeeringArgs, type PeeringNetworkArgs } from "./peering/peering";
export { ResourceSlice, type ResourceSliceArgs } from "./offloading/resource-slice";
export {
  type IngressClassArgs,
  type LoadBalancerClassArgs,
  type StorageClassArgs,
  VirtualNode,
  type VirtualNodeArgs,
} from "./offloading/virtual-node";
