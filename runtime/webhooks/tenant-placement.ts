import { Label } from "../api";
import type { AdmittedObject } from "./admission-review";
import type { Findings } from "./fault-verdict";

type Labels = Readonly<Record<string, string>>;

/** Whether a namespace with these labels is a tenant namespace (control plane reference 3.2). */
export function isTenantNamespace(labels: Labels): boolean {
  const mark = labels[Label.tenantNamespace];
  return mark !== undefined && mark !== "false";
}

/** The peer that a namespace with these labels is dedicated to; undefined where it is no tenant namespace, or one that says not whose. */
export function tenantOf(labels: Labels): string | undefined {
  return isTenantNamespace(labels) ? labels[Label.remoteClusterID] : undefined;
}

/** Where an object that concerns a peer is, and whom it names. */
export interface Placement {
  object: AdmittedObject;
  namespace: string;
  namespaceLabels: Labels;
  /** The peer that the spec names, in `field`. */
  clusterID: string;
  field: string;
}

/**
 * What contradicts what: the spec, the label that peers are looked up by, and the namespace. A label that is missing is no fault, because
 * objects and the labels of their namespace come in any order.
 */
export function placementFindings(placement: Placement): Findings {
  const { object, namespace, namespaceLabels, clusterID, field } = placement;
  const faults: string[] = [];
  const label = object.metadata.labels[Label.remoteClusterID];
  if (label !== undefined && label !== clusterID) {
    faults.push(
      `the label ${Label.remoteClusterID} is "${label}", and ${field} "${clusterID}"; make them equal`,
    );
  }
  const tenant = tenantOf(namespaceLabels);
  if (tenant !== undefined && tenant !== clusterID) {
    faults.push(
      `${field} is "${clusterID}", and namespace "${namespace}" is the tenant namespace of cluster "${tenant}"; create it in that of "${clusterID}", or give the ID "${tenant}"`,
    );
  }
  return { faults, warnings: tenant === undefined ? [unmarked(namespace, clusterID)] : [] };
}

/** Said of a namespace that no peer has, yet. */
function unmarked(namespace: string, clusterID: string): string {
  return `namespace "${namespace}" is not the tenant namespace of cluster "${clusterID}" (yet); create it in that one, or label this one ${Label.tenantNamespace}=true and ${Label.remoteClusterID}=${clusterID}`;
}
