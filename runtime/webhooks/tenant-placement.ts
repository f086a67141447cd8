import { Label } from "../api";
import { tenantOf } from "../plan/peer-objects";
import type { AdmittedObject } from "./admission-review";
import type { ValidationResult } from "./fault-verdict";

type Labels = Readonly<Record<string, string>>;

/** Where an object that concerns a peer is. */
export interface Placement {
  object: AdmittedObject;
  namespace: string;
  namespaceLabels: Labels;
}

/**
 * What is wrong with the provider that `spec.clusterID` names.
 *
 * @param purpose why it cannot be this cluster, as a clause
 */
export function validateProvider(
  clusterID: string | undefined,
  { ownClusterID, purpose, placed }: { ownClusterID: string; purpose: string; placed: Placement },
): ValidationResult {
  const refused = (fault: string) => ({
    faults: [`spec.clusterID: ${fault}; give the provider's cluster ID`],
    warnings: [],
  });
  if (!clusterID) return refused("is missing");
  if (clusterID === ownClusterID) return refused(`"${clusterID}" is this cluster, and ${purpose}`);
  return validatePlacement(clusterID, placed);
}

/**
 * What contradicts what: the spec, the label that peers are looked up by, and the namespace. A label that is missing is no fault, because
 * objects and the labels of their namespace come in any order.
 */
function validatePlacement(
  clusterID: string,
  { object, namespace, namespaceLabels }: Placement,
): ValidationResult {
  const faults: string[] = [];
  const label = object.metadata.labels[Label.remoteClusterID];
  if (label !== undefined && label !== clusterID) {
    faults.push(
      `the label ${Label.remoteClusterID} is "${label}", and spec.clusterID "${clusterID}"; make them equal`,
    );
  }
  const tenant = tenantOf(namespaceLabels);
  if (tenant !== undefined && tenant !== clusterID) {
    faults.push(
      `spec.clusterID is "${clusterID}", and namespace "${namespace}" is the tenant namespace of cluster "${tenant}"; create it in that of "${clusterID}", or give the ID "${tenant}"`,
    );
  }
  return { faults, warnings: tenant === undefined ? [unmarked(namespace, clusterID)] : [] };
}

/** Said of a namespace that no peer has, yet. */
function unmarked(namespace: string, clusterID: string): string {
  return `namespace "${namespace}" is not the tenant namespace of cluster "${clusterID}" (yet); create it in that one, or label this one ${Label.tenantNamespace}=true and ${Label.remoteClusterID}=${clusterID}`;
}
