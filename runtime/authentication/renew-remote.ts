import { EventReason, Renew } from "../api";
import { type Controller, exceptStatus, keyOf, patchStatusIfChanged, runController, watches } from "../kube";
import { isCopy } from "../plan/replication";
import type { AuthenticationContext } from "./authentication-context";
import { describeLookup } from "./tenant-namespaces";

/** At the provider: puts renewed credentials of consumers into the status of their Renew (control plane reference 8.2). */
export function runRemoteRenewer({ runtime, caches }: AuthenticationContext): Controller {
  const { renews, tenants, tenantNamespaces } = caches;
  const copies = (consumer: string | undefined) =>
    caches
      .ofPeer(renews, consumer ?? "")
      .filter(isCopy)
      .map(keyOf);

  return runController(
    {
      name: "renew_remote",
      sources: [
        watches(renews, { when: (event) => isCopy(event.object) && exceptStatus(event) }),
        // Here the status counts: it carries the credentials.
        watches(tenants, { keys: ({ spec }) => copies(spec.clusterID) }),
      ],
      objectOf: (key) => renews.getByKey(key),
      reconcile: async (key) => {
        const renew = renews.getByKey(key);
        if (renew === undefined || !isCopy(renew) || renew.metadata.deletionTimestamp) return;
        const { consumerClusterID: consumer, identityType } = renew.spec;
        if (identityType !== "ControlPlane" || consumer === undefined) return;
        const lookup = tenantNamespaces.of(consumer);
        if (lookup.outcome !== "found") {
          runtime.events.warning(
            renew,
            EventReason.tenantNamespaceNotFound,
            describeLookup(lookup, consumer),
          );
          return;
        }
        if (lookup.name !== renew.metadata.namespace) {
          runtime.events.warning(
            renew,
            EventReason.wrongNamespace,
            `namespace "${renew.metadata.namespace}" is not the tenant namespace of cluster "${consumer}"`,
          );
          return;
        }
        const [tenant, second] = caches
          .ofPeer(tenants, consumer)
          .filter(({ metadata }) => metadata.namespace === lookup.name);
        const authParams = tenant?.status?.authParams;
        if (second !== undefined || !authParams?.signedCRT) return;
        if (authParams.signedCRT === renew.status?.authParams?.signedCRT) return;
        try {
          await patchStatusIfChanged(runtime.client, Renew, renew, { authParams }, { exact: ["authParams"] });
        } catch (error) {
          runtime.events.warning(
            renew,
            EventReason.renewStatusUpdateFailed,
            error instanceof Error ? error.message : String(error),
          );
          throw error;
        }
        runtime.events.normal(renew, EventReason.processing, "Credentials handed over");
      },
    },
    runtime,
  );
}
