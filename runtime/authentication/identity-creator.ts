import { EventReason, Identity, type ResourceSlice, sliceIdentityName } from "../api";
import {
  type Controller,
  controllerOf,
  ownedBy,
  runController,
  watches,
  withGlobalMetadata,
  writeIfChanged,
} from "../kube";
import { isSource } from "../plan/replication";
import type { AuthenticationContext } from "./authentication-context";
import { isOwnSource, slicesOfIdentities } from "./own-sources";
import { sliceIdentity } from "./slice-objects";

/** At the consumer: makes an Identity of each slice whose credentials came back, and removes that of a denied one (control plane reference 6.6). */
export function runIdentityCreator({ runtime, caches, options }: AuthenticationContext): Controller {
  const { slices, identities } = caches;

  async function remove(slice: ResourceSlice, existing: Identity | undefined): Promise<void> {
    if (existing === undefined || existing.metadata.deletionTimestamp) return;
    if (controllerOf(existing)?.uid !== slice.metadata.uid) return;
    await runtime.client.delete(Identity, existing.metadata, { uid: existing.metadata.uid });
    runtime.events.normal(
      slice,
      EventReason.identityDeleted,
      "Identity deleted, the provider denied the slice",
    );
  }

  return runController(
    {
      name: "identity_creator",
      sources: [
        watches(slices, { when: ({ object }) => isSource(object) }),
        watches(identities, { keys: ownedBy("ResourceSlice") }),
        ...slicesOfIdentities(caches),
      ],
      objectOf: (key) => slices.getByKey(key),
      reconcile: async (key) => {
        const slice = slices.getByKey(key);
        if (slice === undefined || !isOwnSource(slice, caches) || slice.metadata.deletionTimestamp) return;
        const condition = slice.status?.conditions?.find(({ type }) => type === "Authentication");
        if (condition === undefined) return;
        const existing = identities.get(sliceIdentityName(slice.metadata.name), slice.metadata.namespace);
        if (condition.status === "Denied") return await remove(slice, existing);
        const authParams = slice.status?.authParams;
        const provider = slice.spec.providerClusterID;
        // Accepted comes with both; an answer without them is not whole yet.
        if (authParams === undefined || provider === undefined) return;
        const { change } = await writeIfChanged(
          runtime.client,
          Identity,
          withGlobalMetadata(sliceIdentity(slice, provider, authParams), options.global),
          existing,
          { exact: ["spec.authParams"] },
        );
        if (change !== "none") runtime.events.normal(slice, EventReason.identityEnsured, "Identity ensured");
      },
    },
    runtime,
  );
}
