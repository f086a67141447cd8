import { EventReason, sliceIdentityName, VirtualNode } from "../api";
import { type Controller, type Informer, runController, watches, writeIfChanged } from "../kube";
import { isSource } from "../plan/replication";
import { type AuthenticationContext, labelledPeer } from "./authentication-context";
import { withGlobalMetadata } from "./global-metadata";
import { ownedBy } from "./owned-by";
import { sliceVirtualNode, wantsVirtualNode } from "./slice-objects";
import { isAccepted } from "./slice-status";

/** At the consumer: makes a VirtualNode of each accepted slice that asks for one (control plane reference 10.3, offloading reference 5.7). */
export function runVirtualNodeCreator(
  { runtime, caches, options }: AuthenticationContext,
  virtualNodes: Informer<VirtualNode>,
): Controller {
  const { slices, identities } = caches;
  return runController(
    {
      name: "resourceslice_vncreator",
      sources: [
        watches(slices, { when: ({ object }) => isSource(object) }),
        watches(identities, { keys: ownedBy("ResourceSlice") }),
        watches(virtualNodes, { keys: ownedBy("ResourceSlice") }),
      ],
      objectOf: (key) => slices.getByKey(key),
      reconcile: async (key) => {
        const slice = slices.getByKey(key);
        if (slice === undefined || !isSource(slice) || slice.metadata.deletionTimestamp) return;
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
        );
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
