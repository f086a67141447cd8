import type { Controller } from "../kube";
import type { OffloadingContext, OffloadingOptions } from "./context";
import { credentialsController } from "./credentials-controller";
import { namespaceMapController } from "./namespace-map-provider";
import { namespaceMapCreator } from "./namespace-map-consumer";
import { namespaceOffloadingController } from "./namespace-offloading-controller";
import { nodeFailureController } from "./node-failure-controller";
import { podStatusController } from "./pod-status-controller";
import { shadowEndpointSliceController } from "./shadow-endpoint-slice-controller";
import { shadowPodController } from "./shadow-pod-controller";
import { ConsumerCaches } from "./consumer-caches";
import { virtualKubeletRightsController } from "./virtual-kubelet-rights-controller";
import { virtualNodeController } from "./virtual-node-controller";

export type { OffloadingContext, OffloadingOptions } from "./context";
export { isBeingRemoved, podOutcome } from "./shadow-pod-phase";

/** Starts all controllers of offloading. Every cluster runs both halves: it may be a consumer, a provider, or both. */
export function offloadingControllers(context: OffloadingContext, options: OffloadingOptions): Controller[] {
  return [...consumerControllers(context, options), ...providerControllers(context, options)];
}

/** Virtual nodes, and what is offloaded to them. */
function consumerControllers(context: OffloadingContext, options: OffloadingOptions): Controller[] {
  const caches = new ConsumerCaches(context.informers);
  return [
    credentialsController(context, caches),
    virtualNodeController(context, caches),
    namespaceMapCreator(context, options, caches),
    namespaceOffloadingController(context, options, caches),
    virtualKubeletRightsController(context, options, caches),
    podStatusController(context, caches),
  ];
}

/** Namespaces and pods of consumers. */
export function providerControllers(context: OffloadingContext, options: OffloadingOptions): Controller[] {
  return [
    namespaceMapController(context, options),
    shadowPodController(context, options),
    shadowEndpointSliceController(context, options),
    ...(options.nodeFailure === true ? [nodeFailureController(context)] : []),
  ];
}
