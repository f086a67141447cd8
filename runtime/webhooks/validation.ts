import { Label } from "../api";
import { tenantOf } from "../plan/peer-objects";
import {
  type AdmissionRequest,
  type AdmittedObject,
  ALLOWED,
  denied,
  type Verdict,
} from "./admission-review";

/** What is wrong with an object. Each sentence names the field, the value and the way out. */
export interface ValidationResult {
  /** What can never work: the request is denied. */
  faults: readonly string[];
  /** What does not work yet: the response warns of it. */
  warnings: readonly string[];
}

/**
 * Denies an object with faults. An update is denied only for new faults; otherwise an object that was admitted earlier, or that became invalid
 * since, could not be repaired step by step. Objects that are being deleted are allowed.
 *
 * @param kind what the sentences are about, with the name of the object
 */
export function verdictOnValidation(
  kind: string,
  { object, oldObject, operation, namespace }: AdmissionRequest,
  validate: (object: AdmittedObject) => ValidationResult,
): Verdict {
  if (object === undefined || object.metadata.deleting) return ALLOWED;
  const after = validate(object);
  const before =
    operation === "UPDATE" && oldObject !== undefined ? validate(oldObject) : { faults: [], warnings: [] };
  const faults = after.faults.filter((fault) => !before.faults.includes(fault));
  const subject = `${kind} "${namespace}/${object.metadata.name ?? ""}"`;
  if (faults.length > 0) return denied(`${subject}: ${faults.join("; ")}`);
  const warnings = after.warnings.filter((warning) => !before.warnings.includes(warning));
  return warnings.length === 0
    ? ALLOWED
    : { allowed: true, warnings: warnings.map((warning) => `${subject}: ${warning}`) };
}

type Labels = Readonly<Record<string, string>>;

/** Where an object that concerns a peer is. */
interface Placement {
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
 * Contradictions between the spec, the label that peers are looked up by, and the namespace. A missing label is no fault, because objects and the labels
 * of their namespace come in any order.
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

/** The warning for a namespace that is no tenant namespace yet. */
function unmarked(namespace: string, clusterID: string): string {
  return `namespace "${namespace}" is not the tenant namespace of cluster "${clusterID}" (yet); create it in that one, or label this one ${Label.tenantNamespace}=true and ${Label.remoteClusterID}=${clusterID}`;
}

/** The longest value of a label: a node has its name in `kubernetes.io/hostname`, and objects of a slice or a virtual node have theirs in a label. */
const LONGEST = 63;

/**
 * Why a name can't become a virtual node's, which a slice gives to its VirtualNode and Node. All other names that are made of it (of the
 * Identity, its Secret, the Quota) may have 253 characters.
 */
export function nodeNameFaults(name = ""): string[] {
  if (name.length <= LONGEST) return [];
  return [
    `metadata.name: "${name}" has ${name.length} characters, and the labels that carry the name of a virtual node hold ${LONGEST}; choose a shorter name`,
  ];
}
