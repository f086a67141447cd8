import {
  type AdmissionRequest,
  type AdmittedObject,
  ALLOWED,
  denied,
  type Verdict,
} from "./admission-review";

/** What is wrong with an object. Each sentence names the field, the value and the way out. */
export interface ValidationResult {
  /** What can never work: refused. */
  faults: readonly string[];
  /** What does not work as things stand, and may yet: told to whoever writes it. */
  warnings: readonly string[];
}

/**
 * Refuses an object with faults. An update is held to its own doing: what was wrong before may stay so, or else an object that was let in once,
 * or that the world around it has made wrong, could not be repaired step by step. Objects that are being deleted pass.
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
