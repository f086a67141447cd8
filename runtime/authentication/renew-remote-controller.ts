import { EventReason, Label, Renew, Tenant } from "../api";
import {
  type Controller,
  exceptStatus,
  keyOf,
  messageOf,
  patchStatusIfChanged,
  runController,
  Terminal,
  watches,
} from "../kube";
import { isCopy } from "../plan/peer-objects";
import type { AuthenticationContext } from "./context";
import { keyReplacement } from "./tenant-key";
import { describeLookup, labelledPeer } from "./tenant-namespace";

/**
 * At the provider: puts renewed credentials of consumers into the status of their Renew (control plane reference 8.2), and takes over the key
 * that a Renew carries after a rotation.
 */
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
        // Status changes count here: the status carries the credentials.
        watches(tenants, { keys: ({ spec }) => copies(spec.clusterID) }),
        // The namespace may appear, or get its labels, last.
        watches(tenantNamespaces.informer, {
          keys: (namespace) => copies(labelledPeer(namespace)),
          when: exceptStatus,
        }),
      ],
      objectOf: (key) => renews.getByKey(key),
      reconcile: async (key) => {
        const renew = renews.getByKey(key);
        if (renew === undefined || !isCopy(renew) || renew.metadata.deletionTimestamp) return;
        const { consumerClusterID: consumer, identityType } = renew.spec;
        if (identityType !== "ControlPlane" || consumer === undefined) return;
        if (renew.metadata.labels?.[Label.replicationOrigin] !== consumer) return;
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
        if (tenant === undefined || second !== undefined || tenant.metadata.deletionTimestamp) return;
        const replacement = keyReplacement(tenant, renew.spec);
        if (replacement.outcome === "refused") {
          throw new Terminal(EventReason.invalidCSR, replacement.message);
        }
        if (replacement.outcome === "replace") {
          const noted = await patchStatusIfChanged(runtime.client, Tenant, tenant, replacement.status, {
            foreign: true,
            lock: "always",
          });
          const { uid, resourceVersion } = noted.object.metadata;
          await runtime.client.patch(
            Tenant,
            tenant.metadata,
            { metadata: { uid, resourceVersion }, spec: replacement.spec },
            { type: "merge" },
          );
          runtime.events.normal(tenant, EventReason.keyReplaced, "The consumer rotated its keys");
          return; // the Tenant's new credentials bring us back
        }
        const authParams = tenant.status?.authParams;
        if (!authParams?.signedCRT) return;
        const same = authParams.signedCRT === renew.status?.authParams?.signedCRT;
        try {
          // Even where the consumer has them already, the status shows that the Renew was observed.
          const status = same ? {} : { authParams };
          await patchStatusIfChanged(runtime.client, Renew, renew, status, { exact: ["authParams"] });
        } catch (error) {
          runtime.events.warning(renew, EventReason.renewStatusUpdateFailed, messageOf(error));
          throw error;
        }
        if (!same) runtime.events.normal(renew, EventReason.processing, "Credentials handed over");
      },
    },
    runtime,
  );
}
