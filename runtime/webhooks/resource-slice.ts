import { Annotation, Label, LabelValue, Name } from "../api";
import { amountFaults } from "../api/amount-faults";
import { isRecord } from "../api/invalid-object";
import {
  type AdmissionRequest,
  type AdmittedObject,
  ALLOWED,
  denied,
  type Verdict,
} from "./admission-review";

/**
 * A slice of our own has a name that no other has, for its VirtualNode and Node take it, names one provider, and asks for what a node can have; copies are exempt. A peer's control plane may
 * change a copy, but not whose it is, nor whether it is cordoned.
 *
 * @param localSlices the slices of our own in the cluster (label `liqo.io/replication=true`)
 * @see control plane reference 10.5 and 13
 */
export function validateResourceSlice(
  request: AdmissionRequest,
  localSlices: readonly { name: string; namespace: string }[],
): Verdict {
  const { object, oldObject, operation, namespace, groups } = request;
  if (object === undefined) return ALLOWED;
  if (operation === "CREATE") {
    if (object.metadata.labels[Label.replicated] === LabelValue.true) return ALLOWED;
    const namesake = localSlices.some(
      (slice) => slice.name === object.metadata.name && slice.namespace !== namespace,
    );
    if (namesake) return denied("a resourceslice with the same name already exists in the cluster");
    const [fault] = sourceFaults(object);
    return fault === undefined ? ALLOWED : denied(fault);
  }
  if (oldObject === undefined || !groups.includes(Name.controlPlaneOrganization)) return ALLOWED;
  const label = edit(oldObject.metadata.labels, object.metadata.labels, Label.remoteClusterID);
  if (label !== undefined) return denied(`can't ${label} the remoteClusterID label`);
  const annotation = edit(oldObject.metadata.annotations, object.metadata.annotations, Annotation.cordon);
  if (annotation === undefined) return ALLOWED;
  return denied(`control plane users can't ${annotation} the ${Annotation.cordon} annotation`);
}

/** What a provider would deny for certain. */
function sourceFaults({ metadata, raw }: AdmittedObject): string[] {
  const { providerClusterID: provider, resources } = isRecord(raw.spec) ? raw.spec : {};
  const labelled = metadata.labels[Label.remoteClusterID];
  const elsewhere =
    typeof provider === "string" && labelled !== undefined && provider !== labelled
      ? [
          `spec.providerClusterID: "${provider}" is not the cluster of the label ${Label.remoteClusterID}, "${labelled}"; give both the provider's ID`,
        ]
      : [];
  const amounts = isRecord(resources) ? amountFaults(resources) : [];
  return [...elsewhere, ...amounts.map((fault) => `spec.resources: ${fault}`)];
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
