import { Label, LabelValue, ResourceSlice } from "../api";
import {
  type AdmissionRequest,
  type AdmittedObject,
  ALLOWED,
  denied,
  type Verdict,
} from "./admission-review";
import { verdictOnValidation } from "./fault-verdict";
import { changeFaults, changeWarnings, sourceFaults } from "./resource-slice-validation";

/** What a slice is checked against. */
export interface SliceAdmission {
  /** This cluster. */
  ownClusterID: string;
  /** Labels of the slice's namespace. */
  namespaceLabels: Readonly<Record<string, string>>;
  /** The slices of our own in the cluster (label `liqo.io/replication=true`). */
  localSlices: readonly { name: string; namespace: string }[];
}

/**
 * A slice of our own has a name that no other has, for its VirtualNode and Node take it, and asks one provider, for what a node can have; once
 * accepted, it stays that slice. Copies are exempt: what a peer may write is decided by its own webhook, `validatePeerWrite`.
 *
 * @see control plane reference 10.5 and 13
 */
export function validateResourceSlice(request: AdmissionRequest, admission: SliceAdmission): Verdict {
  const { object, oldObject, operation, namespace } = request;
  if (object === undefined) return ALLOWED;
  if (operation === "CREATE") {
    if (isCopy(object)) return ALLOWED;
    const { name } = object.metadata;
    const namesake = admission.localSlices.find(
      (slice) => slice.name === name && slice.namespace !== namespace,
    );
    if (namesake === undefined) return validateSource(request, admission);
    return denied(
      `a resourceslice with the same name already exists in the cluster: "${name}" in namespace "${namesake.namespace}"; choose another name, because the virtual node takes it`,
    );
  }
  if (oldObject === undefined) return ALLOWED;
  return isCopy(object) ? ALLOWED : validateSource(request, admission);
}

function validateSource(request: AdmissionRequest, admission: SliceAdmission): Verdict {
  const { object, oldObject, operation, namespace } = request;
  const dependencies = { ...admission, namespace };
  return verdictOnValidation("ResourceSlice", request, (one) => {
    const { spec } = ResourceSlice.fromApiServer(one.raw);
    const faults = sourceFaults(one, spec, dependencies);
    // The object as it stood has not changed from itself.
    if (one !== object || operation !== "UPDATE" || oldObject === undefined) return { faults, warnings: [] };
    const before = ResourceSlice.fromApiServer(oldObject.raw);
    return { faults: [...faults, ...changeFaults(before, spec)], warnings: changeWarnings(before, spec) };
  });
}

function isCopy({ metadata }: AdmittedObject): boolean {
  return metadata.labels[Label.replicated] === LabelValue.true;
}
