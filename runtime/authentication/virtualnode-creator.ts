import { EventReason, ResourceSlice, sliceIdentityName, VirtualNode } from "../api";
import {
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
import { isSource } from "../plan/replication";
import { type AuthenticationContext, labelledPeer } from "./authentication-context";
import { isOwnSource, slicesOfIdentities } from "./own-sources";
import { sliceVirtualNode, wantsVirtualNode } from "./slice-objects";
import { isAccepted } from "./slice-status";

/**
 * At the consumer: makes a VirtualNode of each accepted slice that asks for one, and removes that of a slice that is gone (control plane
 * reference 10.3, offloading reference 5.7).
 */
export function runVirtualNodeCreator(
  { runtime, caches, options }: AuthenticationContext,
  virtualNodes: Informer<VirtualNode>,
): Controller {
  const { slices, identities } = caches;

  /** Kubernetes' garbage collector does it too, but it learns of new kinds only each half minute: until then an unpeering would wait. */
  async function removeOrphan(node: VirtualNode | undefined): Promise<void> {
    const owner = node === undefined ? undefined : controllerOf(node);
    if (node === undefined || node.metadata.deletionTimestamp || owner?.kind !== "ResourceSlice") return;
    const { name, namespace, uid, resourceVersion } = node.metadata;
    // Asked of the API server: a slice that our watch has not told of yet keeps its node.
    const slice = await runtime.client.get(ResourceSlice, { name: owner.name, namespace });
    if (slice?.metadata.uid === owner.uid) return;
    // Of this version: who deletes a slice and keeps what it owns has the garbage collector take the owner away.
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
