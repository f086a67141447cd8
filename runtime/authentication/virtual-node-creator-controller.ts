import {
  Annotation,
  type Desired,
  EventReason,
  isReservedNodeLabel,
  Label,
  ResourceSlice,
  sliceIdentityName,
  VirtualNode,
} from "../api";
import {
  controlledBy,
  type Controller,
  controllerOf,
  type Informer,
  isRefusal,
  ownedBy,
  runController,
  watches,
  withGlobalMetadata,
  writeIfChanged,
} from "../kube";
import { isSource } from "../plan/peer-objects";
import type { AuthenticationContext } from "./context";
import { isOwnSource, slicesOfIdentities } from "./resource-slice-local-controller";
import { amountsAsText } from "./slice-class";
import { isAccepted } from "./slice-status";
import { labelledPeer } from "./tenant-namespace";

/**
 * At the consumer: makes a VirtualNode of each accepted slice that asks for one, and removes that of a slice that is gone (control plane
 * reference 10.3, offloading reference 5.7).
 */
export function runVirtualNodeCreator(
  { runtime, caches, options }: AuthenticationContext,
  virtualNodes: Informer<VirtualNode>,
): Controller {
  const { slices, identities } = caches;

  /** The garbage collector does this too, but it discovers new kinds only every 30 seconds, and an unpeering would wait for that. */
  async function removeOrphan(node: VirtualNode | undefined): Promise<void> {
    const owner = node === undefined ? undefined : controllerOf(node);
    if (node === undefined || node.metadata.deletionTimestamp || owner?.kind !== "ResourceSlice") return;
    const { name, namespace, uid, resourceVersion } = node.metadata;
    // Read from the API server, as our watch may not have seen a new slice yet.
    const slice = await runtime.client.get(ResourceSlice, { name: owner.name, namespace });
    if (slice?.metadata.uid === owner.uid) return;
    // Of this version only: with the propagation policy Orphan the garbage collector removes the owner reference.
    await runtime.client.delete(VirtualNode, { name, namespace }, { uid, resourceVersion });
  }

  return runController(
    {
      name: "resourceslice_vncreator",
      sources: [
        watches(slices, { when: ({ object }) => isSource(object) }),
        watches(identities, { keys: ownedBy("ResourceSlice") }),
        watches(virtualNodes, { keys: ownedBy("ResourceSlice") }),
        ...slicesOfIdentities(caches),
      ],
      objectOf: (key) => slices.getByKey(key),
      reconcile: async (key) => {
        const slice = slices.getByKey(key);
        if (slice === undefined) return await removeOrphan(virtualNodes.getByKey(key));
        if (!isOwnSource(slice, caches) || slice.metadata.deletionTimestamp) return;
        if (!wantsVirtualNode(slice)) return;
        if (!isAccepted(slice, "Authentication") || !isAccepted(slice, "Resources")) return;
        const { name, namespace } = slice.metadata;
        const provider = slice.spec.providerClusterID ?? labelledPeer(slice);
        const secret = identities.get(sliceIdentityName(name), namespace)?.status?.kubeconfigSecretRef?.name;
        if (provider === undefined || !secret) return;
        const { change } = await writeIfChanged(
          runtime.client,
          VirtualNode,
          withGlobalMetadata(sliceVirtualNode(slice, provider, secret), options.global),
          virtualNodes.get(name, namespace),
          { exact: ["spec.resourceQuota"] },
        ).catch((error: unknown) => {
          if (isRefusal(error)) runtime.events.warning(slice, EventReason.virtualNodeRefused, error.message);
          throw error;
        });
        if (change !== "none") {
          runtime.events.normal(
            slice,
            EventReason.virtualNodeCreated,
            "VirtualNode created for resourceslice",
          );
        }
      },
    },
    runtime,
  );
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
      resourceQuota: { hard: amountsAsText(resources) },
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

/** A peer that is also a consumer here may write the status past the replicator's checks. */
function givenLabels(nodeLabels: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(nodeLabels).filter(([key]) => !isReservedNodeLabel(key)));
}
