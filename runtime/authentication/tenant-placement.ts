import { EventReason, type Tenant } from "../api";
import type { PlacementFault } from "./placement";
import { describeLookup, type TenantNamespaces } from "./tenant-namespaces";

/**
 * Why a Tenant does not speak for the cluster that it names; undefined where it does, which is in that cluster's tenant namespace alone. Who may
 * write Tenants elsewhere, such as the peering user of another consumer, has no say in what this consumer is granted or loses. The namespace is
 * never made here: a second one, beside one that is only not labelled yet, would have to be removed by hand.
 */
export function tenantMisplacement(
  { metadata: { namespace = "" } }: Tenant,
  consumer: string,
  tenantNamespaces: TenantNamespaces,
): PlacementFault | undefined {
  const lookup = tenantNamespaces.of(consumer);
  if (lookup.outcome !== "found")
    return { reason: EventReason.tenantNamespaceNotFound, message: describeLookup(lookup, consumer) };
  if (lookup.name === namespace) return undefined;
  return {
    reason: EventReason.wrongNamespace,
    message: `namespace "${namespace}" is not the tenant namespace of cluster "${consumer}", which is "${lookup.name}"; create the Tenant there`,
  };
}

/**
 * Whether the deletion of a Tenant takes away what its consumer was granted in the whole cluster: unless another one speaks for that consumer.
 * The namespace may be on its way out or have lost its labels by now, so a Tenant that is the only one takes the grants along wherever it is.
 *
 * @param present all Tenants that name the consumer
 */
export function takesGrantsAlong(
  gone: Tenant,
  consumer: string,
  present: readonly Tenant[],
  tenantNamespaces: TenantNamespaces,
): boolean {
  return !present.some(
    ({ metadata }) =>
      metadata.uid !== gone.metadata.uid &&
      !metadata.deletionTimestamp &&
      tenantNamespaces.clusterOf(metadata.namespace) === consumer,
  );
}
