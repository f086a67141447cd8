export { NamespaceMap, NamespaceOffloading, OFFLOADING_PHASES, type OffloadingPhase } from "./namespaces";
export { Quota, ShadowEndpointSlice, ShadowPod, type WholePodSpec } from "./shadow-resources";
export { VirtualNode, VkOptionsTemplate } from "./virtual-nodes";
