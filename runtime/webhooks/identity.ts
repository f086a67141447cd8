import { Identity } from "../api";
import type { AdmissionRequest, Verdict } from "./admission-review";
import { verdictOnFindings } from "./fault-verdict";
import { placementFindings } from "./tenant-placement";

const NAMESPACE = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** What an Identity is checked against. */
export interface IdentitySurroundings {
  /** This cluster. */
  ownClusterID: string;
  namespaceLabels: Readonly<Record<string, string>>;
}

/**
 * An Identity says which provider it is for and what for, and is in that provider's tenant namespace.
 *
 * @see control plane reference 2.4
 */
export function validateIdentity(
  request: AdmissionRequest,
  { ownClusterID, namespaceLabels }: IdentitySurroundings,
): Verdict {
  return verdictOnFindings("Identity", request, (object) => {
    const { clusterID, type, namespace } = Identity.fromApiServer(object.raw).spec;
    const faults: string[] = [];
    const warnings: string[] = [];
    if (!clusterID) faults.push("spec.clusterID: is missing; give the provider's cluster ID");
    else if (clusterID === ownClusterID) {
      faults.push(
        `spec.clusterID: "${clusterID}" is this cluster, and an Identity gives access to another; give the provider's cluster ID`,
      );
    } else {
      const placed = { object, namespace: request.namespace, namespaceLabels, clusterID };
      const found = placementFindings({ ...placed, field: "spec.clusterID" });
      faults.push(...found.faults);
      warnings.push(...found.warnings);
    }
    if (type === undefined) faults.push("spec.type: is missing; write ControlPlane or ResourceSlice");
    if (namespace && (namespace.length > 63 || !NAMESPACE.test(namespace))) {
      faults.push(
        `spec.namespace: ${JSON.stringify(namespace)} is no name of a namespace; give this cluster's tenant namespace at the provider`,
      );
    } else if (type === "ControlPlane" && !namespace) {
      warnings.push(
        "spec.namespace: is missing, and without it nothing is copied to the provider; give this cluster's tenant namespace there",
      );
    }
    return { faults, warnings };
  });
}
