import {
  Annotation,
  type Desired,
  type Identity,
  isReservedNodeLabel,
  Label,
  type Quota,
  type ResourceSlice,
  sliceIdentityName,
  type VirtualNode,
} from "../api";
import { resourceSliceUser } from "../identity";
import { controlledBy } from "../kube";
import { isCordoned } from "./slice-status";

/** The objects that an accepted slice becomes: at the consumer an Identity and a VirtualNode, at the provider a Quota. */

/** The consumer's identity of a slice, with the credentials that the provider gave (control plane reference 6.6). */
export function sliceIdentity(
  slice: ResourceSlice,
  provider: string,
  authParams: NonNullable<NonNullable<ResourceSlice["status"]>["authParams"]>,
): Desired<Identity> {
  return {
    apiVersion: "authentication.liqo.io/v1beta1",
    kind: "Identity",
    metadata: {
      name: sliceIdentityName(slice.metadata.name),
      namespace: slice.metadata.namespace,
      labels: { [Label.remoteClusterID]: provider, [Label.resourceSliceName]: slice.metadata.name },
      ownerReferences: [controlledBy(slice)],
    },
    spec: { clusterID: provider, type: "ResourceSlice", authParams },
  };
}

/** Whether a slice is to become a virtual node: any value but `false` or nothing (control plane reference 1.2). */
export function wantsVirtualNode(slice: ResourceSlice): boolean {
  const value = slice.metadata.annotations?.[Annotation.createVirtualNode] ?? "";
  return value !== "" && value.toLowerCase() !== "false";
}

/** The virtual node of an accepted slice (control plane reference 10.3). Labels and patches that others gave it stay. */
export function sliceVirtualNode(
  slice: ResourceSlice,
  provider: string,
  kubeconfigSecretName: string,
): Desired<VirtualNode> {
  const { resources, storageClasses, ingressClasses, loadBalancerClasses, nodeLabels, nodeSelector } =
    slice.status ?? {};
  return {
    apiVersion: "offloading.liqo.io/v1beta1",
    kind: "VirtualNode",
    metadata: {
      name: slice.metadata.name,
      namespace: slice.metadata.namespace,
      labels: { [Label.remoteClusterID]: provider, [Label.resourceSliceName]: slice.metadata.name },
      ownerReferences: [controlledBy(slice)],
    },
    spec: {
      clusterID: provider,
      kubeconfigSecretRef: { name: kubeconfigSecretName },
      resourceQuota: { hard: texts(resources) },
      labels: { ...givenLabels(nodeLabels), [Label.remoteClusterID]: provider },
      storageClasses: storageClasses ?? [],
      ingressClasses: ingressClasses ?? [],
      loadBalancerClasses: loadBalancerClasses ?? [],
      ...(nodeSelector &&
        Object.keys(nodeSelector).length > 0 && {
          offloadingPatch: { nodeSelector },
        }),
    },
  };
}

/** A peer that is a consumer here as well may write the status without the replicator's looking at it first. */
function givenLabels(nodeLabels: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(nodeLabels).filter(([key]) => !isReservedNodeLabel(key)));
}

/** The quota of a granted slice, under the name of the slice's user (control plane reference 10.4). */
export function sliceQuota(
  slice: ResourceSlice,
  consumer: string,
  limitsEnforcement: NonNullable<Quota["spec"]["limitsEnforcement"]>,
): Desired<Quota> {
  const user = resourceSliceUser(slice.metadata.name, consumer);
  return {
    apiVersion: "offloading.liqo.io/v1beta1",
    kind: "Quota",
    metadata: {
      name: user,
      namespace: slice.metadata.namespace,
      labels: { [Label.remoteClusterID]: consumer },
      ownerReferences: [controlledBy(slice)],
    },
    spec: {
      user,
      limitsEnforcement,
      resources: texts(slice.status?.resources),
      ...(isCordoned(slice) ? { cordoned: true } : {}),
    },
  };
}

function texts(resources: NonNullable<ResourceSlice["status"]>["resources"]): Record<string, string> {
  return Object.fromEntries(Object.entries(resources ?? {}).map(([name, amount]) => [name, String(amount)]));
}
