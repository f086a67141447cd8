export { NamespaceMap } from "./namespace-map";
export { NamespaceOffloading, OFFLOADING_PHASES, type OffloadingPhase } from "./namespace-offloading";
export { Quota } from "./quota";
export { ShadowEndpointSlice } from "./shadow-endpoint-slice";
export { ShadowPod, type WholePodSpec } from "./shadow-pod";
export { VirtualNode } from "./virtual-node";
export { VkOptionsTemplate } from "./vk-options-template";
