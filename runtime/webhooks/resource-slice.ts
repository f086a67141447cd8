import { Label, LabelValue, ResourceSlice } from "../api";
import { amountFaults } from "../api/quantity";
import {
  checkCertificateRequest,
  InvalidCertificateRequest,
  KeyError,
  resourceSliceSubject,
} from "../identity";
import { conditionStatus } from "../kube";
import { tenantOf } from "../plan/peer-objects";
import {
  type AdmissionRequest,
  type AdmittedObject,
  ALLOWED,
  denied,
  type Verdict,
} from "./admission-review";
import { nodeNameFaults, verdictOnValidation } from "./validation";

/** What a slice is checked against. */
interface SliceAdmission {
  /** This cluster. */
  ownClusterID: string;
  /** Labels of the slice's namespace. */
  namespaceLabels: Readonly<Record<string, string>>;
  /** The slices of our own in the cluster (label `liqo.io/replication=true`). */
  localSlices: readonly { name: string; namespace: string }[];
}

/**
 * Validates a slice of this cluster's own: its name is unique, as its VirtualNode and Node take it, it names one provider, and it requests amounts that a
 * node can have. Once accepted, its parties and its request stay. Copies are exempt: `validatePeerWrite` decides what a peer may write.
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

type Spec = ResourceSlice["spec"];

export interface SliceDependencies {
  /** This cluster. */
  ownClusterID: string;
  namespace: string;
  namespaceLabels: Readonly<Record<string, string>>;
}

/** Faults of a slice of our own that its provider would certainly deny, or by which it would never be replicated. */
function sourceFaults(
  { metadata }: AdmittedObject,
  spec: Spec,
  { ownClusterID, namespace, namespaceLabels }: SliceDependencies,
): string[] {
  const { providerClusterID: provider, consumerClusterID: consumer, csr, resources } = spec;
  const faults = nodeNameFaults(metadata.name);
  const labelled = metadata.labels[Label.remoteClusterID];
  if (provider !== undefined && labelled !== undefined && provider !== labelled) {
    faults.push(
      `spec.providerClusterID: "${provider}" is not the cluster of the label ${Label.remoteClusterID}, "${labelled}"; give both the provider's ID`,
    );
  }
  const tenant = tenantOf(namespaceLabels);
  const named = provider ?? labelled;
  if (named !== undefined && tenant !== undefined && named !== tenant) {
    const field = provider === undefined ? `the label ${Label.remoteClusterID}` : "spec.providerClusterID";
    faults.push(
      `${field}: "${named}" is not the cluster of namespace "${namespace}", "${tenant}"; create the slice in the tenant namespace of its provider`,
    );
  }
  if (consumer !== undefined && consumer !== ownClusterID) {
    faults.push(
      `spec.consumerClusterID: "${consumer}" is not this cluster, "${ownClusterID}"; leave the field out, and it is filled in`,
    );
  }
  const request = csr ? requestFault(csr, metadata.name ?? "", ownClusterID) : undefined;
  if (request !== undefined) faults.push(`spec.csr: ${request}; leave the field out, and it is filled in`);
  return [...faults, ...amountFaults(resources ?? {}).map((fault) => `spec.resources: ${fault}`)];
}

function requestFault(csr: string, slice: string, ownClusterID: string): string | undefined {
  try {
    checkCertificateRequest(Buffer.from(csr, "base64"), {
      subject: resourceSliceSubject(slice, ownClusterID),
    });
    return undefined;
  } catch (error) {
    if (error instanceof InvalidCertificateRequest || error instanceof KeyError) return error.message;
    throw error;
  }
}

/**
 * What may not change in a slice that its provider has given credentials for: it signs one request, of one consumer. A field that is taken out
 * is filled in again by the controllers, as when a client writes the whole spec anew, so that is no change.
 */
function changeFaults(before: ResourceSlice, spec: Spec): string[] {
  if (conditionStatus(before.status?.conditions, "Authentication") !== "Accepted") return [];
  const faults = (["providerClusterID", "consumerClusterID"] as const).flatMap((field) =>
    changed(before.spec[field], spec[field])
      ? [
          `spec.${field}: is "${before.spec[field]}" and may not become "${spec[field]}", because the slice is accepted; delete it, and create one for the other cluster`,
        ]
      : [],
  );
  if (!changed(before.spec.csr, spec.csr)) return faults;
  return [
    ...faults,
    "spec.csr: may not become another certificate request, because the provider has signed the present one; take the field out, and that of this cluster's key is filled in, or delete the slice and create it anew",
  ];
}

/** A class may change, since whoever serves the new one answers; until then what the old one granted stays (control plane reference 10.2). */
function changeWarnings(before: ResourceSlice, spec: Spec): string[] {
  const [from, to] = [before.spec.class || "default", spec.class || "default"];
  if (from === to || conditionStatus(before.status?.conditions, "Resources") === undefined) return [];
  return [
    `spec.class: becomes "${to}", and what "${from}" has answered stays until the provider's controller of "${to}" answers; go back to "${from}" if there is none`,
  ];
}

function changed(before: string | undefined, after: string | undefined): boolean {
  return Boolean(before) && Boolean(after) && before !== after;
}
