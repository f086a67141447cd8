import { Quota } from "../api";
import { resourceSliceUser } from "../identity";
import {
  type Controller,
  type Informer,
  ownedBy,
  runController,
  watches,
  withGlobalMetadata,
  writeIfChanged,
} from "../kube";
import { isCopy } from "../plan/replication";
import type { AuthenticationContext } from "./authentication-context";
import { sliceQuota } from "./slice-objects";
import { isAccepted, isCordoned } from "./slice-status";

/** At the provider: makes a Quota of each slice with granted resources; it goes with the slice only (control plane reference 10.4). */
export function runQuotaCreator(
  { runtime, caches, options }: AuthenticationContext,
  quotas: Informer<Quota>,
): Controller {
  const { slices } = caches;
  return runController(
    {
      name: "resourceslice_quotacreator",
      sources: [
        watches(slices, { when: ({ object }) => isCopy(object) }),
        watches(quotas, { keys: ownedBy("ResourceSlice") }),
      ],
      objectOf: (key) => slices.getByKey(key),
      reconcile: async (key) => {
        const slice = slices.getByKey(key);
        if (slice === undefined || !isCopy(slice) || slice.metadata.deletionTimestamp) return;
        const consumer = slice.spec.consumerClusterID;
        if (consumer === undefined) return;
        const name = resourceSliceUser(slice.metadata.name, consumer);
        const existing = quotas.get(name, slice.metadata.namespace);
        const accepted = isAccepted(slice, "Resources");
        if (existing === undefined && !accepted) return;
        const granted = sliceQuota(slice, consumer, options.limitsEnforcement);
        // What was granted once stays so after a denial, and can be cordoned like any other.
        if (existing !== undefined && !accepted) granted.spec = cordonedAs(existing.spec, isCordoned(slice));
        await writeIfChanged(runtime.client, Quota, withGlobalMetadata(granted, options.global), existing, {
          exact: ["spec"],
        });
      },
    },
    runtime,
  );
}

function cordonedAs({ cordoned: _before, ...kept }: Quota["spec"], cordoned: boolean): Quota["spec"] {
  return cordoned ? { ...kept, cordoned } : kept;
}
