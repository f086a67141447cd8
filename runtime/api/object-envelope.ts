import { InvalidObjectError, isRecord, subjectOf } from "./invalid-object";

interface Expected {
  readonly apiVersion: string;
  readonly kind: string;
  /** Fields besides the metadata that an object of this kind always has. */
  readonly always?: readonly string[];
}

/**
 * Checks what every object of a kind has: `apiVersion`, `kind`, `metadata.name`, and that `spec` and `status` are objects where present.
 * Written by hand, without zod, because it runs for each watch event.
 *
 * @returns the same value, known to have named fields
 */
export function checkEnvelope(expected: Expected, value: unknown): Record<string, unknown> {
  const fault = envelopeFault(expected, value);
  if (fault === undefined && isRecord(value)) return value;
  throw new InvalidObjectError(subjectOf(expected.kind, value), [fault ?? "is not an object"]);
}

/** Checks `apiVersion` and `kind` alone, for objects that have no name (reviews). */
export function checkIdentity(expected: Expected, value: unknown): Record<string, unknown> {
  const fault = identityFault(expected, value);
  if (fault === undefined && isRecord(value)) return value;
  throw new InvalidObjectError(subjectOf(expected.kind, value), [fault ?? "is not an object"]);
}

function identityFault(expected: Expected, value: unknown): string | undefined {
  if (!isRecord(value)) return `is ${describe(value)}, not an object; give a whole ${expected.kind}`;
  if (value.kind !== expected.kind) {
    return `kind: is ${describe(value.kind)}; this place takes a ${expected.kind}`;
  }
  if (value.apiVersion !== expected.apiVersion) {
    return `apiVersion: is ${describe(value.apiVersion)}; write ${expected.apiVersion}`;
  }
  return undefined;
}

function envelopeFault(expected: Expected, value: unknown): string | undefined {
  const fault = identityFault(expected, value);
  if (fault !== undefined || !isRecord(value)) return fault;
  const { metadata } = value;
  if (!isRecord(metadata)) return `metadata: is ${describe(metadata)}, not an object; give at least a name`;
  if (typeof metadata.name !== "string" || metadata.name === "") {
    return `metadata.name: is ${describe(metadata.name)}; give the object's name`;
  }
  for (const field of expected.always ?? []) {
    if (!isRecord(value[field])) return `${field}: is ${describe(value[field])}, not an object`;
  }
  if (value.spec !== undefined && !isRecord(value.spec))
    return `spec: is ${describe(value.spec)}, not an object`;
  if (value.status !== undefined && !isRecord(value.status))
    return `status: is ${describe(value.status)}, not an object`;
  return undefined;
}

/** A value in a few characters, for an error text. */
export function describe(value: unknown): string {
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
