import { Identity } from "../api";
import { namespaceNameSchema } from "../plan/arguments";
import type { AdmissionRequest, Verdict } from "./admission-review";
import { validateProvider, verdictOnValidation } from "./validation";

/** What an Identity is checked against. */
interface IdentityDependencies {
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
  { ownClusterID, namespaceLabels }: IdentityDependencies,
): Verdict {
  return verdictOnValidation("Identity", request, (object) => {
    const { clusterID, type, namespace } = Identity.fromApiServer(object.raw).spec;
    const found = validateProvider(clusterID, {
      ownClusterID,
      purpose: "an Identity gives access to another",
      placed: { object, namespace: request.namespace, namespaceLabels },
    });
    const [faults, warnings] = [[...found.faults], [...found.warnings]];
    if (type === undefined) faults.push("spec.type: is missing; write ControlPlane or ResourceSlice");
    if (namespace && !namespaceNameSchema.safeParse(namespace).success) {
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
