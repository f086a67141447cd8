import { Annotation, Label, LabelValue, Name, ResourceSlice } from "../api";
import {
  type AdmissionRequest,
  type AdmittedObject,
  ALLOWED,
  denied,
  type Verdict,
} from "./admission-review";
import { verdictOnFindings } from "./fault-verdict";
import { changeFaults, changeWarnings, sourceFaults } from "./resource-slice-findings";

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
 * accepted, it stays that slice. Copies are exempt. A peer's control plane may change a copy, but not whose it is, nor whether it is cordoned.
 *
 * @see control plane reference 10.5 and 13
 */
export function validateResourceSlice(request: AdmissionRequest, admission: SliceAdmission): Verdict {
  const { object, oldObject, operation, namespace, groups } = request;
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
  const overreach = groups.includes(Name.controlPlaneOrganization)
    ? overreachOfPeer(oldObject, object)
    : undefined;
  if (overreach !== undefined) return denied(overreach);
  return isCopy(object) ? ALLOWED : validateSource(request, admission);
}

function validateSource(request: AdmissionRequest, admission: SliceAdmission): Verdict {
  const { object, oldObject, operation, namespace } = request;
  const surroundings = { ...admission, namespace };
  return verdictOnFindings("ResourceSlice", request, (one) => {
    const { spec } = ResourceSlice.fromApiServer(one.raw);
    const faults = sourceFaults(one, spec, surroundings);
    // The object as it stood has not changed from itself.
    if (one !== object || operation !== "UPDATE" || oldObject === undefined) return { faults, warnings: [] };
    const before = ResourceSlice.fromApiServer(oldObject.raw);
    return { faults: [...faults, ...changeFaults(before, spec)], warnings: changeWarnings(before, spec) };
  });
}

/** What a peer's control plane would change of a copy that is not its to change. */
function overreachOfPeer(before: AdmittedObject, after: AdmittedObject): string | undefined {
  const label = edit(before.metadata.labels, after.metadata.labels, Label.remoteClusterID);
  if (label !== undefined) return `can't ${label} the remoteClusterID label`;
  const annotation = edit(before.metadata.annotations, after.metadata.annotations, Annotation.cordon);
  return annotation && `control plane users can't ${annotation} the ${Annotation.cordon} annotation`;
}

function isCopy({ metadata }: AdmittedObject): boolean {
  return metadata.labels[Label.replicated] === LabelValue.true;
}

function edit(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
  key: string,
): "add" | "change" | "delete" | undefined {
  const [old, now] = [before[key], after[key]];
  if (old === now) return undefined;
  if (old === undefined) return "add";
  return now === undefined ? "delete" : "change";
}
