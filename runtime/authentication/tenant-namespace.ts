import { EventReason, type KubeObject, Label, type Namespace, type Tenant } from "../api";
import type { Informer } from "../kube";
import { isTenantNamespace, tenantOf } from "../plan/peer-objects";

/** The peer that an object is labelled with. */
export function labelledPeer(object: KubeObject): string | undefined {
  return object.metadata.labels?.[Label.remoteClusterID];
}

/** The lookup of a peer's tenant namespace, which its labels mark, whatever its name (control plane reference 3.2). */
type TenantNamespaceLookup =
  { outcome: "found"; name: string } | { outcome: "missing" } | { outcome: "ambiguous"; names: string[] };

const peer = "peer";
const peersOf = ({ metadata }: Namespace): string[] => {
  const cluster = metadata.labels?.[Label.remoteClusterID];
  return cluster === undefined ? [] : [cluster];
};

export class TenantNamespaces {
  /** @param informer of the namespaces that carry the label `liqo.io/tenant-namespace` */
  constructor(readonly informer: Informer<Namespace>) {
    informer.addIndex(peer, peersOf);
  }

  of(clusterId: string): TenantNamespaceLookup {
    const names = this.informer
      .byIndex(peer, clusterId)
      .filter(({ metadata }) => !metadata.deletionTimestamp && isTenantNamespace(metadata.labels ?? {}))
      .map(({ metadata }) => metadata.name)
      .sort();
    const [name, second] = names;
    if (name === undefined) return { outcome: "missing" };
    return second === undefined ? { outcome: "found", name } : { outcome: "ambiguous", names };
  }

  /** Names of all namespaces that are dedicated to a peer, those on their way out too. */
  namesOf(clusterId: string): string[] {
    return this.informer.byIndex(peer, clusterId).map(({ metadata }) => metadata.name);
  }

  /** The peer that a namespace is dedicated to; undefined where it is no tenant namespace. */
  clusterOf(namespace: string | undefined): string | undefined {
    if (namespace === undefined) return undefined;
    return tenantOf(this.informer.get(namespace)?.metadata.labels ?? {});
  }
}

/** What is wrong, and what to do, where a peer has no usable tenant namespace. */
export function describeLookup(
  lookup: Exclude<TenantNamespaceLookup, { outcome: "found" }>,
  clusterId: string,
): string {
  return lookup.outcome === "missing"
    ? `cluster "${clusterId}" has no tenant namespace; label one with ${Label.tenantNamespace}=true and ${Label.remoteClusterID}=${clusterId}`
    : `cluster "${clusterId}" has ${lookup.names.length} tenant namespaces (${lookup.names.join(", ")}), exactly one is needed; remove the labels from the others`;
}

/** Why an object is not reconciled: the reason of an event, and what to do. */
interface PlacementFault {
  reason: string;
  message: string;
}

/**
 * Whether an object names a peer and is in that peer's tenant namespace; undefined where all is well.
 *
 * @param missingPeer the event's reason for an object that names no peer
 */
export function checkPlacement(
  object: KubeObject,
  tenantNamespaces: TenantNamespaces,
  missingPeer: string,
): PlacementFault | undefined {
  const peer = labelledPeer(object);
  if (peer === undefined || peer === "") {
    return {
      reason: missingPeer,
      message: `label ${Label.remoteClusterID} is missing; give it the peer's cluster ID`,
    };
  }
  const lookup = tenantNamespaces.of(peer);
  if (lookup.outcome !== "found") {
    return { reason: EventReason.tenantNamespaceNotFound, message: describeLookup(lookup, peer) };
  }
  if (lookup.name !== object.metadata.namespace) {
    return {
      reason: EventReason.wrongNamespace,
      message: `namespace "${object.metadata.namespace ?? ""}" is not the tenant namespace of cluster "${peer}", which is "${lookup.name}"; create the object there`,
    };
  }
  return undefined;
}

/**
 * Why a Tenant does not count for the cluster that it names; undefined where it does, which is in that cluster's tenant namespace alone. Whoever may
 * write Tenants elsewhere, such as the peering user of another consumer, must not decide what this consumer is granted. The controller does not
 * create the namespace: an existing one may only lack its labels, and somebody would have to remove the second one.
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
 * Whether the deletion of a Tenant revokes the cluster-wide grants of its consumer: unless another Tenant counts for that consumer. The namespace
 * may be terminating or have lost its labels, so the last Tenant revokes the grants wherever it is.
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
